// A word or two about something.

import { h } from "../core/dom.js";

/**
 * @param {string} text
 * @param {"sale" | "good" | "bad" | "accent" | ""} [look]
 */
export function chip(text, look = "") {
  return h("span", { class: `chip ${look}`.trim() }, text);
}
