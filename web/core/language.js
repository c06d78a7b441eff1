// The page language, Chinese or English: the user's choice, or else the browser's preference.

import { saveLocal, loadLocal } from "./local-storage.js";

/** @typedef {"zh" | "en"} Language */

const stored = loadLocal("language");
/** @type {Language} */
let current = stored === "zh" || stored === "en" ? stored : preferred();
const listeners = new EventTarget();
setDocumentLanguage();

/** @returns {Language} */
export function language() {
  return current;
}

/**
 * Returns the text in the current language.
 * @template T
 * @param {T} zh
 * @param {T} en
 * @returns {T}
 */
export function t(zh, en) {
  return current === "zh" ? zh : en;
}

/** @param {Language} chosen */
export function setLanguage(chosen) {
  saveLocal("language", chosen);
  change(chosen);
}

/** Discards the user's choice and follows the browser. */
export function resetLanguage() {
  saveLocal("language", null);
  change(preferred());
}

/** @param {Language} next */
function change(next) {
  if (next === current) return;
  current = next;
  setDocumentLanguage();
  listeners.dispatchEvent(new Event("change"));
}

/** @returns {Language} */
function preferred() {
  return navigator.language.startsWith("zh") ? "zh" : "en";
}

/**
 * @param {() => void} listener
 * @param {AbortSignal} [signal]
 */
export function onLanguageChange(listener, signal) {
  listeners.addEventListener("change", listener, { signal });
}

function setDocumentLanguage() {
  document.documentElement.lang = current === "zh" ? "zh-CN" : "en";
}
