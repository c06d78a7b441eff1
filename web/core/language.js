// Chinese or English: as the browser prefers, or as its user chose. A text is there in both or not at all.

import { keep, kept } from "./kept.js";

/** @typedef {"zh" | "en"} Language */

const stored = kept("language");
/** @type {Language} */
let spoken = stored === "zh" || stored === "en" ? stored : navigator.language.startsWith("zh") ? "zh" : "en";
const listeners = new EventTarget();
mark();

/** @returns {Language} */
export function language() {
  return spoken;
}

/**
 * The one of two texts that is spoken now.
 * @template T
 * @param {T} zh
 * @param {T} en
 * @returns {T}
 */
export function both(zh, en) {
  return spoken === "zh" ? zh : en;
}

/** @param {Language} chosen */
export function speak(chosen) {
  spoken = chosen;
  keep("language", chosen);
  mark();
  listeners.dispatchEvent(new Event("change"));
}

/**
 * @param {() => void} what
 * @param {AbortSignal} [signal]
 */
export function onLanguage(what, signal) {
  listeners.addEventListener("change", what, { signal });
}

function mark() {
  document.documentElement.lang = spoken === "zh" ? "zh-CN" : "en";
}
