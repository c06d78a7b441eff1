// A shop's score.

import { h } from "../core/dom.js";
import { both } from "../core/language.js";
import { icon } from "./icons.js";

/** @param {number} score stars times ten */
export function stars(score) {
  const text = (score / 10).toFixed(1);
  return h("span", { class: "stars" }, icon("star", { full: true }),
    h("span", { "aria-hidden": "true" }, text), h("span", { class: "unseen" }, both(`${text}分`, `${text} of 5 stars`)));
}
