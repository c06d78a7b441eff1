// Counts of items pending for operators, shown as badges.

import { get, onToken } from "../core/api.js";

/**
 * @typedef {{backlog: number, unpaidOrders: number, deadLetters: number, reports: number, vouchers: number,
 * sales: number}} Overview response of `GET /ops/overview`
 */

/** @type {Overview | null} */
let counts = null;
const listeners = new EventTarget();
onToken(() => (counts = null));

/** Returns the last counts. */
export function pendingCounts() {
  return counts;
}

/** Reads the counts; for operators only. */
export async function refreshPendingCounts() {
  counts = await get("/ops/overview");
  listeners.dispatchEvent(new Event("count"));
}

/** @param {() => void} listener called after each refresh */
export function onPendingCounts(listener) {
  listeners.addEventListener("count", listener);
}
