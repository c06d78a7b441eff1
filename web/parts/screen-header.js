// The header of a screen: title, back button and actions.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { back } from "../core/router.js";
import { iconButton } from "./button.js";

/**
 * @param {string} title
 * @param {{home?: string, actions?: import("../core/dom.js").Child[]}} [options] `home`: target of the back
 * button without history
 */
export function screenHeader(title, { home = "/", actions = [] } = {}) {
  return h("header", { class: "screen-head" },
    iconButton("back", t("返回", "Back"), () => back(home)), h("h1", { class: "grow cut" }, title), ...actions);
}
