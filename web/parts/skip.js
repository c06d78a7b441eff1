// The first stop of the Tab key: past the navigation. An address with `#screen` would be a screen's, so it is a button.

import { h } from "../core/dom.js";
import { both } from "../core/language.js";

export function skip() {
  return h("button", { type: "button", class: "button main skip", onclick: () => document.getElementById("screen")?.focus() }, both("跳到正文", "Skip to the content"));
}
