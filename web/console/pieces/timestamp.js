// Local timestamps of the server (`2026-11-21T10:09:17`), shown to the second.

import { h } from "../../core/dom.js";

/**
 * Shows a dash for a missing time.
 * @param {string | undefined} text
 */
export function timestamp(text) {
  return text ? h("time", { datetime: text, class: "exactly" }, text.replace("T", " ")) : "—";
}
