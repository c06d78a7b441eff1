// Who is logged in here.

import { call, get, hasToken, onToken, setToken } from "./api.js";
import { keep, kept } from "./kept.js";
import { forget } from "./copies.js";

/** @typedef {{id: number, nickName: string, icon: string}} Person somebody in short */

/** @type {Person | null} */
let known = JSON.parse(kept("me") ?? "null");

onToken(() => {
  know(null);
  forget();
});

/**
 * Who is logged in; `null` if nobody is.
 * @returns {Promise<Person | null>}
 */
export async function me() {
  if (!hasToken()) return null;
  if (!known) know(await get("/user/me"));
  return known;
}

/** Who is logged in, if it was asked before: for what is drawn at once. */
export function knownMe() {
  return hasToken() ? known : null;
}

/** After one's name or picture changed. */
export function renewMe() {
  know(null);
  return me();
}

/**
 * @param {{phone: string, code?: string, password?: string}} form
 * @returns {Promise<void>}
 */
export async function logIn(form) {
  setToken((await call("POST", "/user/login", { body: form })).data);
  // One is in, whether or not it can be told who one is.
  await me().catch(() => {});
}

/** Out at once, whether or not the mall hears of it. */
export async function logOut() {
  const left = hasToken() ? call("POST", "/user/logout").catch(() => {}) : Promise.resolve();
  setToken(null);
  await left;
}

/** @param {Person | null} person */
function know(person) {
  known = person;
  keep("me", person && JSON.stringify(person));
}
