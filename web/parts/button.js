// Buttons that show a running action.

import { h } from "../core/dom.js";
import { icon } from "./icons.js";
import { showError } from "./toast.js";

/** @typedef {import("./icons.js").IconName} IconName */
/** @typedef {"main" | "sale" | "bare" | "danger" | "wide"} Look */

/**
 * @param {string} text
 * @param {() => unknown} action the action; while its promise is pending, further clicks are ignored; a
 * failure is shown as a toast
 * @param {{look?: Look[], icon?: IconName}} [options]
 */
export function button(text, action, { look = [], icon: name } = {}) {
  const element = h("button", { type: "button", class: ["button", ...look].join(" ") }, name && icon(name), h("span", null, text));
  element.addEventListener("click", () => whileBusy(element, action));
  return element;
}

/**
 * Creates an icon button with a label for screen readers.
 * @param {IconName} name
 * @param {string} label
 * @param {() => unknown} action
 */
export function iconButton(name, label, action) {
  const element = h("button", { type: "button", class: "button round bare", "aria-label": label, title: label }, icon(name));
  element.addEventListener("click", () => whileBusy(element, action));
  return element;
}

/**
 * Creates a link styled as a button.
 * @param {string} text
 * @param {string} to `#/shop/7`
 * @param {{look?: Look[], icon?: IconName}} [options]
 */
export function linkButton(text, to, { look = [], icon: name } = {}) {
  return h("a", { href: to, class: ["button", ...look].join(" ") }, name && icon(name), h("span", null, text));
}

/**
 * Runs an action, marks the button as busy meanwhile, and shows a failure as a toast.
 * @param {HTMLButtonElement} control
 * @param {() => unknown} action
 */
export async function whileBusy(control, action) {
  if (control.getAttribute("aria-busy") === "true") return;
  control.setAttribute("aria-busy", "true");
  try {
    await action();
  } catch (error) {
    showError(error);
  } finally {
    control.removeAttribute("aria-busy");
  }
}
