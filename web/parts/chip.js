// A short status label.

import { h } from "../core/dom.js";

/**
 * @param {string} text
 * @param {"sale" | "good" | "bad" | "accent" | "long" | "long sale" | ""} [variant] `long`: may wrap
 */
export function chip(text, variant = "") {
  return h("span", { class: `chip ${variant}`.trim() }, text);
}
