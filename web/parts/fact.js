// A row of a list of facts: a name and a value.

import { h } from "../core/dom.js";

/**
 * Returns a row of a `dl`.
 * @param {string} name
 * @param {import("../core/dom.js").Child} value
 */
export function fact(name, value) {
  return h("div", null, h("dt", null, name), h("dd", { class: "number" }, value));
}
