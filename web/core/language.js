// Chinese or English: as the browser prefers, or as its user chose. A text is there in both or not at all.

import { keep, kept } from "./kept.js";

/** @typedef {"zh" | "en"} Language */

const stored = kept("language");
/** @type {Language} */
let spoken = stored === "zh" || stored === "en" ? stored : preferred();
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
  keep("language", chosen);
  change(chosen);
}

/** Whatever was chosen, as the browser prefers. */
export function speakAsPreferred() {
  keep("language", null);
  change(preferred());
}

/** @param {Language} to */
function change(to) {
  if (to === spoken) return;
  spoken = to;
  mark();
  listeners.dispatchEvent(new Event("change"));
}

/** @returns {Language} */
function preferred() {
  return navigator.language.startsWith("zh") ? "zh" : "en";
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
