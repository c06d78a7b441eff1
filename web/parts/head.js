// The head of a screen: where one is, and the way back.

import { h } from "../core/dom.js";
import { both } from "../core/language.js";
import { back } from "../core/router.js";
import { iconButton } from "./button.js";

/**
 * @param {string} title
 * @param {{home?: string, actions?: import("../core/dom.js").Child[]}} [how] `home`: where back leads if one came from elsewhere
 */
export function head(title, { home = "/", actions = [] } = {}) {
  return h("header", { class: "screen-head" },
    iconButton("back", both("返回", "Back"), () => back(home)), h("h1", { class: "grow cut" }, title), ...actions);
}
