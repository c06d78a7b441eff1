// One of a few: what a list is sorted by, which tab is open.

import { h } from "../core/dom.js";

/**
 * @template {string} Value
 * @param {string} label what is chosen
 * @param {{value: Value, text: string, lang?: string}[]} options `lang`: of a text that is not in the page's language
 * @param {Value} chosen
 * @param {(value: Value) => void} choose
 */
export function choice(label, options, chosen, choose) {
  const buttons = options.map(({ value, text, lang }) =>
    h("button", { type: "button", lang, "aria-pressed": String(value === chosen), onclick: () => pick(value) }, text));
  /** @param {Value} value */
  function pick(value) {
    for (const [index, option] of options.entries()) buttons[index].setAttribute("aria-pressed", String(option.value === value));
    choose(value);
  }
  return h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}
