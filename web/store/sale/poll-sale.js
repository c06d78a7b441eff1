// Polling of a flash sale: twice at first, for a precise estimate of the opening, and then as the mall says, which
// spreads the polls of all pages and keeps them away from the opening.

import { Refusal, call } from "../../core/api.js";
import { onVisible } from "../../core/dom.js";
import { momentAfter, msUntil } from "../../core/server-time.js";
import { moreAccurate, parseWindow } from "./sale-window.js";

/** @typedef {"NOT_OPEN" | "OPEN" | "PAUSED" | "SOLD_OUT" | "ENDED"} State */

/**
 * @typedef {object} LiveSale
 * @property {State} state the last reported state
 * @property {number} stock −1: unlimited
 * @property {number} units total number of units, sold ones included; −1: unlimited
 * @property {number} pressAgainMs
 * @property {boolean} guarded whether a claim needs a pass
 * @property {boolean} waitingList whether visitors can wait for units after the last is taken
 * @property {boolean} waitingRoom whether a claim needs an admission
 * @property {{at: import("../../core/server-time.js").Moment, units: number} | undefined} nextWave the next
 * release of units before the end
 * @property {import("./sale-window.js").SaleWindow} window
 */

/** Initial polls; the quickest response gives the best estimate. */
const SAMPLES = 2;
const SAMPLE_EVERY_MS = 350;
const RETRY_AFTER_ERROR_MS = 3_000;
/** The interval after news from elsewhere: a million people who wait in a room must not ask twice. */
const QUIET_MS = 600_000;

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @param {(sale: LiveSale) => void} onUpdate
 * @param {(error: unknown) => void} onError
 * @returns {{look: () => void, hear: (news: Pick<LiveSale, "state" | "stock">) => void}} `look`: polls at once;
 * `hear`: takes the state from another response, and polls no more for a while
 */
export function pollSale(id, signal, onUpdate, onError) {
  /** @type {LiveSale | undefined} */
  let sale;
  let pollCount = 0;
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  onVisible(signal, () => schedule(0));
  schedule(0);

  /** @param {number} ms */
  function schedule(ms) {
    clearTimeout(timer);
    timer = setTimeout(poll, ms);
  }

  async function poll() {
    try {
      const answer = await call("GET", `/sale/${id}`, { signal });
      const { state, stock, units, pressAgainMs, pollInMs, guarded, waitingList, waitingRoom, nextWave: wave } = answer.data;
      const nextWave = wave && { at: momentAfter(wave.inMs, answer), units: wave.units };
      sale = { state, stock, units, pressAgainMs, guarded, waitingList, waitingRoom, nextWave, window: moreAccurate(sale?.window, parseWindow(answer)) };
      pollCount += 1;
      onUpdate(sale);
      if (!signal.aborted && !document.hidden) schedule(pollCount < SAMPLES ? Math.min(SAMPLE_EVERY_MS, pollInMs) : pollInMs);
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
      // Unknown sales stay unknown.
      if (error instanceof Refusal && !error.isTrouble) return;
      schedule(RETRY_AFTER_ERROR_MS);
    }
  }

  return {
    look: () => schedule(0),
    hear: (news) => {
      if (!sale) return;
      sale = { ...sale, ...news };
      schedule(QUIET_MS);
      onUpdate(sale);
    },
  };
}

/**
 * Returns the current state: sales open, get their next wave and end locally, without a new response.
 * @param {LiveSale} live
 * @returns {State}
 */
export function effectiveState({ state, window, nextWave }) {
  if (state === "ENDED" || msUntil(window.ends) <= 0) return "ENDED";
  if (state === "NOT_OPEN" && msUntil(window.begins) <= 0) return "OPEN";
  if (state === "SOLD_OUT" && nextWave && msUntil(nextWave.at) <= 0) return "OPEN";
  return state;
}
