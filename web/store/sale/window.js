// When a sale opens and ends, as well as it can be known from here. Each answer of the mall says how far away both are, and is
// right to half of the time that it took: the quickest one counts, until it is old, or until the mall's clock was turned.

import { momentAfter } from "../../core/moments.js";

/**
 * @typedef {object} Window
 * @property {import("../../core/moments.js").Moment} begins
 * @property {import("../../core/moments.js").Moment} ends
 * @property {string} name the same two times as the mall's clocks show them
 * @property {number} within milliseconds that it may be off
 * @property {number} asked when it was
 */

/** How much two clocks drift apart, at the most. */
const DRIFT = 1e-4;
/** The mall tells whole milliseconds. */
const ROUNDED_MS = 2;

/**
 * @param {import("../../core/api.js").ApiResponse} answer of `GET /sale/{id}`
 * @returns {Window}
 */
export function windowIn(answer) {
  const { beginsInMs, endsInMs, beginTime, endTime } = answer.data;
  return {
    begins: momentAfter(beginsInMs, answer), ends: momentAfter(endsInMs, answer), name: `${beginTime} ${endTime}`,
    within: (answer.receivedAt - answer.sentAt) / 2 + ROUNDED_MS, asked: answer.receivedAt,
  };
}

/**
 * The one of two that tells better.
 * @param {Window | undefined} old
 * @param {Window} fresh
 */
export function better(old, fresh) {
  if (!old || old.name !== fresh.name) return fresh;
  const within = old.within + (fresh.asked - old.asked) * DRIFT;
  // They cannot both be right: the mall's clock was turned, or this machine slept.
  const isOther = Math.abs(old.begins - fresh.begins) > within + fresh.within;
  return isOther || fresh.within <= within ? fresh : old;
}
