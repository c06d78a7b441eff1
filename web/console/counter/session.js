// The session of a staff member at a counter: who is logged in, and the log-out when nobody acts.

import { idleMs, noteActivity, watchActivity } from "../../core/activity.js";
import { Refusal, call, get, hasToken, onToken, setToken } from "../../core/api.js";
import { kioskKey } from "../../core/kiosk-key.js";
import { logOut } from "../../core/session.js";
import { clearFormDrafts } from "../pieces/form-draft.js";

/** @typedef {{id: number, name: string, idleSeconds: number, counterCodes: boolean}} OnDuty response of `GET /staff/me` */

/** @type {OnDuty | null} */
let person = null;

onToken(() => !hasToken() && (person = null));

/** Returns the person who is logged in, if already loaded. */
export function onDuty() {
  return person;
}

/**
 * Logs in by PIN.
 * @param {string} pin
 */
export async function logInByPin(pin) {
  const key = kioskKey();
  const { data } = await call("POST", "/staff/login", { body: { pin }, headers: key ? { "x-kiosk-key": key } : {} });
  const { token, ...rest } = data;
  person = rest;
  noteActivity();
  setToken(token);
}

/**
 * Returns whether a person is logged in.
 * @returns {Promise<boolean>}
 */
export async function isOnDuty() {
  if (!hasToken()) return false;
  try {
    person ??= /** @type {OnDuty} */ (await get("/staff/me"));
    return true;
  } catch (error) {
    if (error instanceof Refusal && [401, 403].includes(error.status)) return false;
    throw error;
  }
}

/** Logs the person out, and deletes what was typed. */
export function leaveCounter() {
  person = null;
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  clearFormDrafts();
  return logOut();
}

/** Prepares the page for touch, and logs the person out after the idle time of the mall. */
export function startCounter() {
  document.documentElement.classList.add("kiosk");
  watchActivity();
  setInterval(() => {
    if (person && idleMs() >= person.idleSeconds * 1_000) void leaveCounter();
  }, 250);
}
