// The colour scheme, light or dark: the user's choice, or else the system's.

import { saveLocal, loadLocal } from "./local-storage.js";

/** @typedef {"light" | "dark" | "system"} ColorScheme */

applyColorScheme();

/** @returns {ColorScheme} */
export function colorScheme() {
  const chosen = loadLocal("scheme");
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

/** @param {ColorScheme} chosen */
export function setColorScheme(chosen) {
  saveLocal("scheme", chosen === "system" ? null : chosen);
  applyColorScheme();
}

function applyColorScheme() {
  const chosen = colorScheme();
  if (chosen === "system") delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = chosen;
}
