// Empty and error states of lists and screens.

import { isReachable } from "../core/api.js";
import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { ModuleLoadError } from "../core/router.js";
import { button } from "./button.js";
import { icon } from "./icons.js";
import { errorMessage, showError } from "./toast.js";

/**
 * @param {import("./icons.js").IconName} name
 * @param {string} text
 * @param {...import("../core/dom.js").Child} children
 */
export function emptyState(name, text, ...children) {
  return h("div", { class: "empty" }, icon(name), h("p", null, text), ...children);
}

/**
 * Shows an error with a button to try again.
 * @param {unknown} error
 * @param {() => unknown} retry
 */
export function errorState(error, retry) {
  return h("div", { class: "empty", role: "alert" }, icon("warn"), h("p", null, errorMessage(error)),
    button(t("再试一次", "Try again"), error instanceof ModuleLoadError ? () => reloadPage(error) : retry));
}

/**
 * Reloads the page: browsers may cache a failed import until then.
 * @param {ModuleLoadError} error
 */
function reloadPage(error) {
  // Without a connection the reload would fail and lose the page.
  if (isReachable()) location.reload();
  else showError(error);
}
