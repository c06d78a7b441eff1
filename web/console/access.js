// Access of the current user to the console.

import { Refusal, get, hasToken, onToken } from "../core/api.js";
import { me } from "../core/session.js";
import { refreshPendingCounts } from "./pending-counts.js";

/** @typedef {"nobody" | "customer" | "operator"} Access */

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
  try {
    const [role] = await Promise.all([get("/user/role"), me()]);
    if (role !== "operator") return "customer";
    await refreshPendingCounts();
    return "operator";
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return "nobody";
    if (error instanceof Refusal && error.status === 403) return "customer";
    throw error;
  }
}
