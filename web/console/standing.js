// Who sits before the console.

import { Refusal, get, hasToken, onToken } from "../core/api.js";
import { me } from "../core/session.js";
import { countWaiting } from "./waiting.js";

/** @typedef {"nobody" | "customer" | "operator"} Standing */

/** @type {Standing | null} */
let known = null;
onToken(forgetStanding);

/**
 * What whoever is logged in may do; asked once.
 * @returns {Promise<Standing>}
 */
export async function standing() {
  known ??= await asked();
  return known;
}

/** It is asked again next time: somebody may have been made an operator. */
export function forgetStanding() {
  known = null;
}

/** What was found out before: for what is drawn at once. */
export function knownStanding() {
  return known;
}

/** @returns {Promise<Standing>} */
async function asked() {
  if (!hasToken()) return "nobody";
  try {
    const [role] = await Promise.all([get("/user/role"), me()]);
    if (role !== "operator") return "customer";
    await countWaiting();
    return "operator";
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return "nobody";
    if (error instanceof Refusal && error.status === 403) return "customer";
    throw error;
  }
}
