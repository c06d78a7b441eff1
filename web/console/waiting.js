// What waits for an operator: shown in the frame, wherever one is.

import { get, onToken } from "../core/api.js";

/** @typedef {{backlog: number, unpaidOrders: number, deadLetters: number, reports: number, vouchers: number, sales: number}} Overview as `GET /ops/overview` tells it */

/** @type {Overview | null} */
let known = null;
const listeners = new EventTarget();
onToken(() => (known = null));

/** As it was when it was counted last. */
export function waiting() {
  return known;
}

/** Counts it anew; only operators are told. */
export async function countWaiting() {
  known = await get("/ops/overview");
  listeners.dispatchEvent(new Event("count"));
}

/** @param {() => void} what after each count */
export function onCount(what) {
  listeners.addEventListener("count", what);
}
