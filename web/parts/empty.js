// Where there is nothing, a word about why, and what to do.

import { h } from "../core/dom.js";
import { both } from "../core/language.js";
import { button } from "./button.js";
import { icon } from "./icons.js";
import { reason } from "./toast.js";

/**
 * @param {import("./icons.js").IconName} name
 * @param {string} text
 * @param {...import("../core/dom.js").Child} more
 */
export function empty(name, text, ...more) {
  return h("div", { class: "empty" }, icon(name), h("p", null, text), ...more);
}

/**
 * What could not be shown, with a way to try again.
 * @param {unknown} error
 * @param {() => unknown} again
 */
export function failure(error, again) {
  return h("div", { class: "empty", role: "alert" }, icon("warn"), h("p", null, reason(error)),
    button(both("再试一次", "Try again"), again));
}
