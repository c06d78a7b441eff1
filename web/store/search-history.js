// The search history, stored in the browser.

import { saveLocal, loadLocal } from "../core/local-storage.js";

const MAX_SEARCHES = 8;

/** @returns {string[]} newest first */
export function recentSearches() {
  return JSON.parse(loadLocal("searches") ?? "[]");
}

/** @param {string} name */
export function addSearch(name) {
  if (!name) return;
  saveLocal("searches", JSON.stringify([name, ...recentSearches().filter((other) => other !== name)].slice(0, MAX_SEARCHES)));
}

export function clearSearches() {
  saveLocal("searches", null);
}
