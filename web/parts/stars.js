// A shop's rating.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { icon } from "./icons.js";

/** @param {number} score stars times ten; 0: no ratings yet */
export function stars(score) {
  if (score === 0) return h("span", { class: "quiet" }, t("暂无评分", "No ratings yet"));
  const text = (score / 10).toFixed(1);
  return h("span", { class: "stars" }, icon("star", { full: true }),
    h("span", { "aria-hidden": "true" }, text), h("span", { class: "unseen" }, t(`${text}分`, `${text} of 5 stars`)));
}
