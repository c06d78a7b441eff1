// Who is logged in here.

import { call, get, hasToken, onToken, setToken, tokenNow } from "./api.js";
import { keep, kept } from "./kept.js";
import { forget } from "./copies.js";

/** @typedef {{id: number, nickName: string, icon: string}} Person somebody in short */

/** Somebody, and the token by which it is so. @type {{by: string, person: Person} | null} */
let known = keptHere();

onToken(() => {
  // Where another window logged in, it has put away who that is.
  known = keptHere();
  if (!hasToken()) keep("me", null);
  forget();
});

/**
 * Who is logged in; `null` if nobody is.
 * @returns {Promise<Person | null>}
 */
export async function me() {
  const by = tokenNow();
  if (by === null) return null;
  if (known?.by === by) return known.person;
  const person = await get("/user/me");
  // Somebody else logged in meanwhile.
  if (tokenNow() !== by) return me();
  known = { by, person };
  keep("me", JSON.stringify(known));
  return person;
}

/** Who is logged in, if it was asked before: for what is drawn at once. */
export function knownMe() {
  return known !== null && known.by === tokenNow() ? known.person : null;
}

/** After one's name or picture changed. */
export function renewMe() {
  known = null;
  keep("me", null);
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

/** @returns {typeof known} */
function keptHere() {
  return JSON.parse(kept("me") ?? "null");
}
