// A time of the mall, which comes as wall-clock text of its zone (`2026-11-21T10:09:17`): to the second, as a ledger has it.

import { h } from "../../core/dom.js";

/**
 * Without one, a dash.
 * @param {string | undefined} text
 */
export function exactly(text) {
  return text ? h("time", { datetime: text, class: "exactly" }, text.replace("T", " ")) : "—";
}
