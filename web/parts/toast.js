// Short messages at the foot of the screen, read aloud as well.

import { Refusal, Unreachable } from "../core/api.js";
import { h } from "../core/dom.js";
import { both } from "../core/language.js";

const SHOWN_MS = 4_000;

const list = h("div", { class: "toasts", role: "status", "aria-live": "polite" });
document.body.append(list);

/**
 * @param {string} text
 * @param {{bad?: boolean}} [how]
 */
export function say(text, { bad = false } = {}) {
  const toast = h("p", { class: bad ? "toast bad" : "toast" }, text);
  // What is not in an open dialog is behind it.
  const dialog = document.querySelector("dialog[open]");
  if (dialog && !dialog.contains(list)) {
    dialog.append(list);
    dialog.addEventListener("close", () => document.body.append(list), { once: true });
  }
  list.append(toast);
  setTimeout(() => toast.remove(), SHOWN_MS);
}

/**
 * What went wrong, in words for whoever sees the page.
 * @param {unknown} error
 */
export function tell(error) {
  // Somebody went on to something else.
  if (error instanceof DOMException && error.name === "AbortError") return;
  say(reason(error), { bad: true });
}

/**
 * @param {unknown} error
 * @returns {string}
 */
export function reason(error) {
  if (error instanceof Refusal) return error.message;
  if (error instanceof Unreachable) return both("连不上商城，请稍后再试", "The mall does not answer; try again in a moment");
  console.error(error);
  return both("页面出了点问题", "Something went wrong on this page");
}
