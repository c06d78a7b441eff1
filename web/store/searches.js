// What was searched for before, in this browser alone.

import { keep, kept } from "../core/kept.js";

const MOST = 8;

/** @returns {string[]} the newest first */
export function searches() {
  return JSON.parse(kept("searches") ?? "[]");
}

/** @param {string} name */
export function keepSearch(name) {
  if (!name) return;
  keep("searches", JSON.stringify([name, ...searches().filter((other) => other !== name)].slice(0, MOST)));
}

export function forgetSearches() {
  keep("searches", null);
}
