// Digits to touch, where there is no keyboard.

import { h } from "../core/dom.js";
import { both } from "../core/language.js";
import { icon } from "./icons.js";

/**
 * Types into the one of these that had the focus last, and goes on to the next when it is full.
 * @param {() => HTMLInputElement[]} inputs
 * @param {AbortSignal} signal
 */
export function keypad(inputs, signal) {
  /** @param {string} digit */
  const key = (digit) => h("button", { type: "button", class: "button", onclick: () => type((text) => text + digit) }, digit);
  const root = h("div", { class: "keypad", role: "group", "aria-label": both("数字键盘", "Digits") }, [..."123456789"].map(key),
    h("button", { type: "button", class: "button", onclick: () => type(() => "") }, both("清空", "Clear")), key("0"),
    h("button", { type: "button", class: "button", "aria-label": both("删除", "Delete"), onclick: () => type((text) => text.slice(0, -1)) }, icon("back")));
  // A touch leaves the focus where it is.
  root.addEventListener("pointerdown", (event) => event.preventDefault());
  let last = 0;
  document.addEventListener("focusin", ({ target }) => {
    const found = inputs().findIndex((input) => input === target);
    if (found >= 0) last = found;
  }, { signal });

  /** @param {(text: string) => string} change */
  function type(change) {
    const [input, next] = [inputs()[last], inputs()[last + 1]];
    input.value = change(input.value).slice(0, input.maxLength);
    input.dispatchEvent(new Event("input", { bubbles: true }));
    if (input.value.length === input.maxLength) next?.focus();
  }

  return root;
}
