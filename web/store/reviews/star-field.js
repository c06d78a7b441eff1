// A rating in half stars: by pointer, touch or arrow keys.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { icon } from "../../parts/icons.js";

/**
 * @param {number} halfStars 2 to 10; 0: not chosen yet
 * @param {(halfStars: number) => void} onChange
 * @returns {{root: HTMLElement, wrong: (text: string) => void}}
 */
export function starField(halfStars, onChange) {
  const message = h("p", { class: "wrong", role: "alert" });
  const text = h("span", { class: "quiet" });
  const radios = Array.from({ length: 9 }, (_, index) => index + 2).map((value) => {
    const input = h("input", { type: "radio", name: "stars", value: String(value), checked: value === halfStars, onchange: () => choose(value) });
    return h("label", { class: value % 2 === 1 ? "half" : "full", title: starText(value) }, input, h("span", { class: "unseen" }, starText(value)));
  });
  const shape = () => Array.from({ length: 5 }, () => icon("star", { full: true }));
  const lit = h("span", { class: "star-lit", "aria-hidden": "true" }, shape());
  const row = h("div", { class: "star-row" }, h("span", { class: "star-all", "aria-hidden": "true" }, shape()), lit, radios);
  const root = h("fieldset", { class: "field star-field" }, h("legend", { class: "quiet small" }, t("评分", "Rating")), h("div", { class: "row wrap" }, row, text), message);
  show(halfStars);
  return { root, wrong };

  /** @param {number} value */
  function choose(value) {
    show(value);
    message.textContent = "";
    onChange(value);
  }

  /** @param {number} value */
  function show(value) {
    lit.style.inlineSize = `${value * 10}%`;
    text.textContent = value === 0 ? t("点星星评分", "Choose the stars") : starText(value);
  }

  /** @param {string} words */
  function wrong(words) {
    message.textContent = words;
    if (words) root.querySelector("input")?.focus();
  }
}

/** @param {number} halfStars */
function starText(halfStars) {
  return t(`${halfStars / 2}星`, `${halfStars / 2} of 5 stars`);
}
