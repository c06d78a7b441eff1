// Passes of guarded sales, and the ticket of this device. A pass is kept in memory until a claim spends it or
// it expires; the ticket is kept in the browser.

import { onToken } from "../../core/api.js";
import { loadLocal, saveLocal } from "../../core/local-storage.js";
import { msUntil } from "../../core/server-time.js";

/** Name of the stored ticket. */
const TICKET = "device-ticket";

/** @type {Map<string, {pass: string, expires: import("../../core/server-time.js").Moment}>} */
const passes = new Map();
// A pass belongs to its user.
onToken(() => passes.clear());

/**
 * Keeps a pass.
 * @param {string} voucher
 * @param {string} pass
 * @param {import("../../core/server-time.js").Moment} expires
 */
export function keepPass(voucher, pass, expires) {
  passes.set(voucher, { pass, expires });
}

/** @param {string} voucher */
export function forgetPass(voucher) {
  passes.delete(voucher);
}

/**
 * Whether a pass is there that has not expired.
 * @param {string} voucher
 */
export function hasPass(voucher) {
  return msUntil(passes.get(voucher)?.expires ?? 0) > 0;
}

/** @param {string} ticket */
export function keepTicket(ticket) {
  saveLocal(TICKET, ticket);
}

/**
 * Returns the header with the ticket of this device, if there is one.
 * @returns {Record<string, string>}
 */
export function ticketHeader() {
  const ticket = loadLocal(TICKET);
  return ticket ? { "x-device-ticket": ticket } : {};
}

/**
 * Returns the headers of a claim: none for a sale without a guard.
 * @param {string} voucher
 * @returns {Record<string, string>}
 */
export function claimHeaders(voucher) {
  const kept = passes.get(voucher);
  return kept ? { "x-sale-pass": kept.pass, ...ticketHeader() } : {};
}
