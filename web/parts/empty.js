// Where there is nothing, a word about why, and what to do.

import { isReachable } from "../core/api.js";
import { h } from "../core/dom.js";
import { both } from "../core/language.js";
import { Unloaded } from "../core/router.js";
import { button } from "./button.js";
import { icon } from "./icons.js";
import { reason, tell } from "./toast.js";

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
    button(both("再试一次", "Try again"), error instanceof Unloaded ? () => reload(error) : again));
}

/**
 * A browser may remember that a module did not come, until the page is loaded again.
 * @param {Unloaded} error
 */
function reload(error) {
  // A page that is loaded again without a connection is gone.
  if (isReachable()) location.reload();
  else tell(error);
}
