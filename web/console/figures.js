// The live figures: one stream for the whole console, with what was heard lately, so that charts are there at once.

import { Refusal, hasToken, setToken } from "../core/api.js";
import { events } from "../core/events.js";
import { delay } from "../core/moments.js";

/**
 * How the mall is at one instant. Counts are since its start.
 * @typedef {object} Figures
 * @property {string} time by the mall's clock
 * @property {boolean} ready
 * @property {string[]} troubles
 * @property {Part[]} parts
 * @property {string} backend
 * @property {string} durability
 * @property {string} [payment] how new orders are paid for
 * @property {number} connections
 * @property {number} [memoryBytes]
 * @property {number} requests
 * @property {number} accepted
 * @property {Record<string, number>} refused
 * @property {number} persisted
 * @property {number} backlog
 * @property {Lately} [lately] since the event before
 * @property {{uv: number, pv: number}} [visits] today's: different visitors, and views
 * @property {SaleFigures[]} [sales]
 */
/** @typedef {{name: string, ok: boolean, troubles?: string[], durability?: string}} Part what the mall rests on */
/**
 * @typedef {object} Lately
 * @property {number} millis
 * @property {number} requests
 * @property {number} accepted
 * @property {Record<string, number>} refused
 * @property {number} persisted
 * @property {{p50: number, p90: number, p99: number}} [claimMillis]
 */
/**
 * @typedef {object} SaleFigures
 * @property {number} voucherId
 * @property {string} title
 * @property {number} stock units left; −1: unlimited
 * @property {number} units in all; −1: unlimited
 * @property {number} taken
 * @property {string} state
 */
/** @typedef {"connecting" | "on" | "lost"} Hearing */

/** Five minutes. */
const KEPT_MS = 300_000;
/** An event comes each second: after so many without one, nobody speaks any more. */
const PATIENCE_MS = 6_000;
const AGAIN_MS = 1_500;
/** Whoever is let in again and shut out at once is told once in so long, and hears nothing meanwhile. */
const SHUT_OUT_ONCE_IN_MS = 30_000;

/** @type {Figures[]} the oldest first */
const heard = [];
/** @type {number[]} when each of them was heard */
const times = [];
/** @type {Hearing} */
let hearing = "connecting";
/** @type {AbortController | null} */
let listening = null;
let shutOutAt = -Infinity;
const listeners = new EventTarget();

/** What was heard lately, the oldest first. */
export function history() {
  return heard;
}

/** @returns {Figures | undefined} */
export function latest() {
  return heard[heard.length - 1];
}

/** Whether figures come in. */
export function isHearing() {
  return hearing;
}

/**
 * Now, if something was heard before, and with each event.
 * @param {() => void} what
 * @param {AbortSignal} [signal]
 */
export function onFigures(what, signal) {
  listeners.addEventListener("figures", what, { signal });
  if (heard.length > 0) what();
}

/**
 * When whoever watches is no operator any more.
 * @param {() => void} what
 */
export function onShutOut(what) {
  listeners.addEventListener("shut out", what);
}

/**
 * Listens until {@link stopListening}; again whenever the stream breaks off. Not while nobody looks: a browser opens but six
 * connections to one place, and each page that is forgotten behind others would hold one of them.
 */
export async function listen() {
  if (listening) return;
  const mine = new AbortController();
  listening = mine;
  while (!mine.signal.aborted) {
    await untilSeen();
    const away = whenUnseen();
    await hearOut(AbortSignal.any([mine.signal, away])).catch((error) => {
      // Anything else that is in the way, a proxy's page too, may be gone next time.
      if (error instanceof Refusal && error.status === 403 && !mine.signal.aborted) shutOut();
    });
    if (mine.signal.aborted) return;
    if (away.aborted) continue;
    say("lost");
    await delay(AGAIN_MS);
  }
}

/** Once somebody looks at the page. */
async function untilSeen() {
  while (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
}

/** Aborted once nobody does. */
function whenUnseen() {
  const away = new AbortController();
  const { signal } = away;
  document.addEventListener("visibilitychange", () => away.abort(), { signal });
  // It is left for another one, and may be kept to be gone back to.
  addEventListener("pagehide", () => away.abort(), { signal });
  return signal;
}

export function stopListening() {
  listening?.abort();
  listening = null;
  heard.length = times.length = 0;
  say("connecting");
}

/** @param {AbortSignal} until */
async function hearOut(until) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), PATIENCE_MS);
  try {
    for await (const { name, data } of events("/ops/live", AbortSignal.any([until, silence.signal]))) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), PATIENCE_MS);
      if (name === "end") return ended(data.code);
      heard.push(data);
      times.push(performance.now());
      while (times[0] < performance.now() - KEPT_MS) {
        heard.shift();
        times.shift();
      }
      say("on");
    }
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The mall will say nothing more.
 * @param {string} code
 */
function ended(code) {
  if (code === "NOT_LOGGED_IN" && hasToken()) setToken(null);
  if (code === "FORBIDDEN") shutOut();
}

/** Not an operator any more. */
function shutOut() {
  if (performance.now() < shutOutAt + SHUT_OUT_ONCE_IN_MS) return;
  shutOutAt = performance.now();
  stopListening();
  listeners.dispatchEvent(new Event("shut out"));
}

/** @param {Hearing} options */
function say(options) {
  hearing = options;
  listeners.dispatchEvent(new Event("figures"));
}
