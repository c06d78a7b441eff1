// A numeric keypad for touch screens without a keyboard.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { icon } from "./icons.js";

/**
 * Edits the most recently focused input and moves on to the next input once full.
 * @param {() => HTMLInputElement[]} inputs
 * @param {AbortSignal} signal
 */
export function keypad(inputs, signal) {
  /** @param {string} digit */
  const keyButton = (digit) => h("button", { type: "button", class: "button", onclick: () => edit((text) => text + digit) }, digit);
  const root = h("div", { class: "keypad", role: "group", "aria-label": t("数字键盘", "Keypad") }, [..."123456789"].map(keyButton),
    h("button", { type: "button", class: "button", onclick: () => edit(() => "") }, t("清空", "Clear")), keyButton("0"),
    h("button", { type: "button", class: "button", "aria-label": t("删除", "Delete"), onclick: () => edit((text) => text.slice(0, -1)) }, icon("back")));
  // Keeps the focus in the input.
  root.addEventListener("pointerdown", (event) => event.preventDefault());
  let lastFocused = 0;
  document.addEventListener("focusin", ({ target }) => {
    const index = inputs().findIndex((input) => input === target);
    if (index >= 0) lastFocused = index;
  }, { signal });

  /** @param {(text: string) => string} change */
  function edit(change) {
    const [input, next] = [inputs()[lastFocused], inputs()[lastFocused + 1]];
    input.value = change(input.value).slice(0, input.maxLength);
    input.dispatchEvent(new Event("input", { bubbles: true }));
    if (input.value.length === input.maxLength) next?.focus();
  }

  return root;
}
