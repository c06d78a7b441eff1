// The heading of an area's main screen.

import { h } from "../../core/dom.js";

/**
 * @param {string} title
 * @param {...import("../../core/dom.js").Child} more
 */
export function heading(title, ...more) {
  return h("header", { class: "heading" }, h("h1", null, title), ...more);
}
