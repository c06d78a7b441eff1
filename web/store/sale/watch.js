// Looks at a sale again and again: often at first, to know its time well, and when it is about to open; never all at once
// with everybody else who waits.

import { Refusal, call } from "../../core/api.js";
import { onVisible } from "../../core/dom.js";
import { msUntil } from "../../core/moments.js";
import { better, windowIn } from "./window.js";

/** @typedef {"NOT_OPEN" | "OPEN" | "PAUSED" | "SOLD_OUT" | "ENDED"} State */

/**
 * @typedef {object} Live
 * @property {State} state as the mall said last
 * @property {number} stock −1: unlimited
 * @property {number} units how many there are in all, sold ones too; −1: unlimited
 * @property {number} pressAgainMs
 * @property {import("./window.js").Window} window
 */

/** Looks at the beginning, to find a quick one among them. */
const SAMPLES = 4;
const SAMPLE_EVERY_MS = 350;
const AFTER_TROUBLE_MS = 3_000;

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @param {(live: Live) => void} show
 * @param {(error: unknown) => void} failed
 * @returns {() => void} looks at once
 */
export function watch(id, signal, show, failed) {
  /** @type {Live | undefined} */
  let live;
  let looks = 0;
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  onVisible(signal, () => soon(0));
  soon(0);

  /** @param {number} ms */
  function soon(ms) {
    clearTimeout(timer);
    timer = setTimeout(look, ms);
  }

  async function look() {
    try {
      const answer = await call("GET", `/sale/${id}`, { signal });
      const { state, stock, units, pressAgainMs } = answer.data;
      live = { state, stock, units, pressAgainMs, window: better(live?.window, windowIn(answer)) };
      looks += 1;
      show(live);
      if (!signal.aborted && !document.hidden) soon(looks < SAMPLES ? SAMPLE_EVERY_MS : untilNext(live));
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
      // There is no such sale, and there will be none in a moment.
      if (error instanceof Refusal && !error.isTrouble) return;
      soon(AFTER_TROUBLE_MS);
    }
  }

  return () => soon(0);
}

/** @param {Live} live */
function untilNext(live) {
  return restMs(live) * (0.75 + Math.random() / 2);
}

/** @param {Live} live */
function restMs({ window }) {
  const left = msUntil(window.begins);
  if (msUntil(window.ends) < 0) return 60_000;
  if (left <= 0) return 3_000;
  if (left > 600_000) return 60_000;
  if (left > 60_000) return 15_000;
  return left > 10_000 ? 5_000 : 2_500;
}

/**
 * Where a sale is now: it opens and ends here without the mall having to say so.
 * @param {Live} live
 * @returns {State}
 */
export function stateOf({ state, window }) {
  if (state === "ENDED" || msUntil(window.ends) <= 0) return "ENDED";
  if (state === "NOT_OPEN" && msUntil(window.begins) <= 0) return "OPEN";
  return state;
}
