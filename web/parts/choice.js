// A row of toggle buttons for a choice among a few options, such as sort orders or tabs.

import { h } from "../core/dom.js";

/**
 * @template {string} Value
 * @param {string} label name of the group
 * @param {{value: Value, text: string, lang?: string}[]} options `lang`: language of the text, if different
 * from the page's
 * @param {Value} selected
 * @param {(value: Value) => void} onChoose
 */
export function choice(label, options, selected, onChoose) {
  const buttons = options.map(({ value, text, lang }) =>
    h("button", { type: "button", lang, "aria-pressed": String(value === selected), onclick: () => choose(value) }, text));
  /** @param {Value} value */
  function choose(value) {
    for (const [index, option] of options.entries()) buttons[index].setAttribute("aria-pressed", String(option.value === value));
    onChoose(value);
  }
  return h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}
