// Access of the current user to the console.

import { Refusal, get, hasToken, onToken } from "../core/api.js";
import { isKiosk } from "../core/local-storage.js";
import { me } from "../core/session.js";
import { isOnDuty } from "./counter/session.js";
import { refreshPendingCounts } from "./pending-counts.js";

/**
 * `code`: an operator who has to give the second factor; `enrol`: an operator who has to set one up
 * @typedef {"nobody" | "customer" | "code" | "enrol" | "operator" | "staff"} Access
 */
/**
 * Response of `GET /user/second-factor`.
 * @typedef {object} Factor
 * @property {"none" | "pending" | "active"} state
 * @property {string} [since]
 * @property {number} recoveryCodes unused ones
 * @property {boolean} required whether the mall requires a factor of this user
 * @property {boolean} given whether this session has given the factor
 */

/** @type {Access | null} */
let cachedValue = null;
onToken(resetAccess);

/**
 * Returns the access of the current user; fetched once per token.
 * @returns {Promise<Access>}
 */
export async function readAccess() {
  cachedValue ??= await fetchAccess();
  return cachedValue;
}

/** Discards the cached access, since the role may have changed. */
export function resetAccess() {
  cachedValue = null;
}

/** Returns the access if already known, for immediate rendering. */
export function cachedAccess() {
  return cachedValue;
}

/** @returns {Promise<Access>} */
async function fetchAccess() {
  if (!hasToken()) return "nobody";
  if (isKiosk) return (await isOnDuty()) ? "staff" : "nobody";
  try {
    /** @type {[string, Factor, unknown]} */
    const [role, factor] = await Promise.all([get("/user/role"), get("/user/second-factor"), me()]);
    if (role !== "operator") return "customer";
    if (factor.state === "active" && !factor.given) return "code";
    if (factor.state !== "active" && factor.required) return "enrol";
    await refreshPendingCounts();
    return "operator";
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return "nobody";
    if (error instanceof Refusal && error.status === 403) return "customer";
    throw error;
  }
}
