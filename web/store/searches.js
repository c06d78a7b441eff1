// What was searched for before, in this browser alone.

import { saveLocal, loadLocal } from "../core/kept.js";

const MOST = 8;

/** @returns {string[]} the newest first */
export function searches() {
  return JSON.parse(loadLocal("searches") ?? "[]");
}

/** @param {string} name */
export function keepSearch(name) {
  if (!name) return;
  saveLocal("searches", JSON.stringify([name, ...searches().filter((other) => other !== name)].slice(0, MOST)));
}

export function forgetSearches() {
  saveLocal("searches", null);
}
