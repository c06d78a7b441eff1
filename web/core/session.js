// The session: login, logout and the current user.

import { call, get, hasToken, onToken, setToken, currentToken } from "./api.js";
import { clearBlobs } from "./blob-store.js";
import { KEPT_AFTER_LOG_OUT, clearLocal, saveLocal, loadLocal } from "./local-storage.js";
import { invalidate } from "./cache.js";

/** @typedef {{id: number, nickName: string, icon: string}} Person summary of a user */

/** The current user, with the token the data was loaded with. @type {{by: string, person: Person} | null} */
let cached = loadCached();

onToken(() => {
  // After a login in another window, storage has that window's user.
  cached = loadCached();
  if (!hasToken()) saveLocal("me", null);
  invalidate();
});

/**
 * Returns the current user, or `null` if nobody is logged in.
 * @returns {Promise<Person | null>}
 */
export async function me() {
  const token = currentToken();
  if (token === null) return null;
  if (cached?.by === token) return cached.person;
  const person = await get("/user/me");
  // Another login replaced the token meanwhile.
  if (currentToken() !== token) return me();
  cached = { by: token, person };
  saveLocal("me", JSON.stringify(cached));
  return person;
}

/** Returns the current user if already loaded, for immediate rendering. */
export function cachedMe() {
  return cached !== null && cached.by === currentToken() ? cached.person : null;
}

/** Reloads the current user after a change of name or picture. */
export function reloadMe() {
  cached = null;
  saveLocal("me", null);
  return me();
}

/**
 * @param {{phone: string, code?: string, ticket?: string, password?: string}} form
 * @returns {Promise<void>}
 */
export async function logIn(form) {
  setToken((await call("POST", "/user/login", { body: form })).data);
  // The login succeeded, even if the user cannot be loaded now.
  await me().catch(() => {});
}

/**
 * Logs out locally at once, whether or not the server is reachable. Deletes what the user left in the browser:
 * drafts with pictures, searches, the chosen place.
 */
export async function logOut() {
  const loggedOut = hasToken() ? call("POST", "/user/logout").catch(() => {}) : Promise.resolve();
  setToken(null);
  clearLocal(KEPT_AFTER_LOG_OUT);
  await Promise.all([loggedOut, clearBlobs()]);
}

/** @returns {typeof cached} */
function loadCached() {
  return JSON.parse(loadLocal("me") ?? "null");
}
