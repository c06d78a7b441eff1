// Light or dark: as the system has it, or as the reader chose.

import { keep, kept } from "./kept.js";

/** @typedef {"light" | "dark" | "system"} Scheme */

mark();

/** @returns {Scheme} */
export function scheme() {
  const chosen = kept("scheme");
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

/** @param {Scheme} chosen */
export function choose(chosen) {
  keep("scheme", chosen === "system" ? null : chosen);
  mark();
}

function mark() {
  const chosen = scheme();
  if (chosen === "system") delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = chosen;
}
