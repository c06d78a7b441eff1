// The skip link, first in tab order. A button, because the router would take `#screen` for a screen's
// address.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";

export function skipLink() {
  return h("button", { type: "button", class: "button main skip", onclick: () => document.getElementById("screen")?.focus() }, t("跳到正文", "Skip to content"));
}
