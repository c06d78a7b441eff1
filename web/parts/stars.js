// A shop's score.

import { h } from "../core/dom.js";
import { both } from "../core/language.js";
import { icon } from "./icons.js";

/** @param {number} score stars times ten; 0: nobody has rated the shop */
export function stars(score) {
  if (score === 0) return h("span", { class: "quiet" }, both("暂无评分", "Not rated yet"));
  const text = (score / 10).toFixed(1);
  return h("span", { class: "stars" }, icon("star", { full: true }),
    h("span", { "aria-hidden": "true" }, text), h("span", { class: "unseen" }, both(`${text}分`, `${text} of 5 stars`)));
}
