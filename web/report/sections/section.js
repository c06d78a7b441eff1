// A section of the report.

import { h } from "../../core/dom.js";

/**
 * @param {string} id
 * @param {string} title
 * @param {...import("../../core/dom.js").Child} children
 */
export function section(id, title, ...children) {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}

/**
 * A grid of charts.
 * @param {(HTMLElement | null)[]} charts
 */
export function panels(charts) {
  return h("div", { class: "panels" }, charts);
}

/**
 * Names and values.
 * @param {[string, import("../../core/dom.js").Child][]} pairs
 * @param {"facts" | "tiles" | "settings"} look
 */
export function definitions(pairs, look = "facts") {
  return h("dl", { class: look }, pairs.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}
