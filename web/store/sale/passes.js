// Passes of guarded sales, admissions from waiting rooms, and the ticket of this device. A pass is kept in
// memory until a claim spends it or it expires, an admission until it expires; the ticket is kept in the
// browser. A pass refused because the claim looked automated is kept until a second challenge replaces it.

import { onToken } from "../../core/api.js";
import { kioskKey, refuseKioskKey } from "../../core/kiosk-key.js";
import { loadLocal, saveLocal } from "../../core/local-storage.js";
import { msUntil } from "../../core/server-time.js";

/** Name of the stored ticket. */
const TICKET = "device-ticket";

/** @type {Map<string, {pass: string, expires: import("../../core/server-time.js").Moment}>} */
const passes = new Map();
/** @type {Map<string, {admission: string, expires: import("../../core/server-time.js").Moment}>} */
const admissions = new Map();
/** Refused passes by voucher: the next challenge is a second one. @type {Map<string, string>} */
const refused = new Map();
// Passes and admissions belong to their user.
onToken(() => {
  passes.clear();
  admissions.clear();
  refused.clear();
});

/**
 * Keeps a pass, in place of a refused one.
 * @param {string} voucher
 * @param {string} pass
 * @param {import("../../core/server-time.js").Moment} expires
 */
export function keepPass(voucher, pass, expires) {
  passes.set(voucher, { pass, expires });
  refused.delete(voucher);
}

/**
 * Forgets a pass that the mall did not take, or the key of the kiosk in its place.
 * @param {string} voucher
 */
export function forgetPass(voucher) {
  if (!passes.delete(voucher)) refuseKioskKey();
}

/**
 * Keeps a refused pass for the next challenge, and for no claim.
 * @param {string} voucher
 */
export function refusePass(voucher) {
  const kept = passes.get(voucher);
  if (kept) refused.set(voucher, kept.pass);
  passes.delete(voucher);
}

/**
 * Whether the next challenge is a second one.
 * @param {string} voucher
 */
export function isPassRefused(voucher) {
  return refused.has(voucher);
}

/**
 * Whether a pass is there that has not expired. A trusted kiosk needs none.
 * @param {string} voucher
 */
export function hasPass(voucher) {
  return kioskKey() !== null || msUntil(passes.get(voucher)?.expires ?? 0) > 0;
}

/**
 * Keeps an admission.
 * @param {string} voucher
 * @param {string} admission
 * @param {import("../../core/server-time.js").Moment} expires
 */
export function keepAdmission(voucher, admission, expires) {
  admissions.set(voucher, { admission, expires });
}

/** @param {string} voucher */
export function forgetAdmission(voucher) {
  admissions.delete(voucher);
}

/**
 * Whether an admission is there that has not expired.
 * @param {string} voucher
 */
export function hasAdmission(voucher) {
  return msUntil(admissions.get(voucher)?.expires ?? 0) > 0;
}

/** @param {string} ticket */
export function keepTicket(ticket) {
  saveLocal(TICKET, ticket);
}

/**
 * Returns the headers of a call for a challenge: ticket, admission and refused pass, if there are any.
 * @param {string} voucher
 * @returns {Record<string, string>}
 */
export function challengeHeaders(voucher) {
  const pass = refused.get(voucher);
  return { ...answerHeaders(voucher), ...(pass ? { "x-sale-pass": pass } : {}) };
}

/**
 * Returns the headers of a call for a pass: the ticket of this device and the admission, if there are any.
 * @param {string} voucher
 * @returns {Record<string, string>}
 */
export function answerHeaders(voucher) {
  const [ticket, admitted] = [loadLocal(TICKET), admissions.get(voucher)];
  return { ...(ticket ? { "x-device-ticket": ticket } : {}), ...(admitted ? { "x-sale-admission": admitted.admission } : {}) };
}

/**
 * Returns the headers of a claim: none for a sale without a guard and a waiting room, unless the kiosk has a key.
 * @param {string} voucher
 * @returns {Record<string, string>}
 */
export function claimHeaders(voucher) {
  const kept = passes.get(voucher);
  if (kept) return { "x-sale-pass": kept.pass, ...answerHeaders(voucher) };
  const [key, admitted] = [kioskKey(), admissions.get(voucher)];
  return { ...(key ? { "x-kiosk-key": key } : {}), ...(admitted ? { "x-sale-admission": admitted.admission } : {}) };
}
