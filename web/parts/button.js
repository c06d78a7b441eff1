// Buttons that know when they are at work.

import { h } from "../core/dom.js";
import { icon } from "./icons.js";
import { tell } from "./toast.js";

/** @typedef {import("./icons.js").IconName} IconName */
/** @typedef {"main" | "sale" | "bare" | "danger" | "wide"} Look */

/**
 * @param {string} text
 * @param {() => unknown} act what it does; while a promise of it is open, the button cannot be pressed again, and if it fails,
 * the reason is shown
 * @param {{look?: Look[], icon?: IconName}} [how]
 */
export function button(text, act, { look = [], icon: name } = {}) {
  const made = h("button", { type: "button", class: ["button", ...look].join(" ") }, name && icon(name), h("span", null, text));
  made.addEventListener("click", () => busy(made, act));
  return made;
}

/**
 * A drawn button with a label for those who do not see it.
 * @param {IconName} name
 * @param {string} label
 * @param {() => unknown} act
 */
export function iconButton(name, label, act) {
  const made = h("button", { type: "button", class: "button round bare", "aria-label": label, title: label }, icon(name));
  made.addEventListener("click", () => busy(made, act));
  return made;
}

/**
 * A link that looks like a button.
 * @param {string} text
 * @param {string} to `#/shop/7`
 * @param {{look?: Look[], icon?: IconName}} [how]
 */
export function linkButton(text, to, { look = [], icon: name } = {}) {
  return h("a", { href: to, class: ["button", ...look].join(" ") }, name && icon(name), h("span", null, text));
}

/**
 * Lets a button rest while what it began is under way, and tells what went wrong with it.
 * @param {HTMLButtonElement} pressed
 * @param {() => unknown} act
 */
export async function busy(pressed, act) {
  if (pressed.getAttribute("aria-busy") === "true") return;
  pressed.setAttribute("aria-busy", "true");
  try {
    await act();
  } catch (error) {
    tell(error);
  } finally {
    pressed.removeAttribute("aria-busy");
  }
}
