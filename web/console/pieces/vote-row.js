// A line of the ledger of votes.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { timestamp } from "./timestamp.js";

/**
 * An item of `GET /ops/votes`.
 * @typedef {object} VoteLine
 * @property {number} remarkId
 * @property {number} number
 * @property {number} [userId]
 * @property {"up" | "down" | "closed"} cause
 * @property {number} change
 * @property {number} sum
 * @property {string} time
 * @property {string} cursor
 */

/** @param {VoteLine} line */
export function voteRow({ remarkId, number, userId, cause, change, sum, time }) {
  return h("div", { class: "entry vote-line" },
    timestamp(time),
    h("a", { class: "link", href: `#/votes?review=${remarkId}` }, t(`评价 ${remarkId}`, `Review ${remarkId}`)),
    h("span", { class: "quiet number" }, t(`第 ${number} 行`, `line ${number}`)),
    h("span", null, causeText(cause)),
    h("strong", { class: "number" }, `${change > 0 ? "+" : "−"}${Math.abs(change)}`),
    h("span", { class: "number" }, t(`共 ${sum}`, `sum ${sum}`)),
    userId !== undefined && h("a", { class: "link", href: `#/users?id=${userId}` }, t(`用户 ${userId}`, `user ${userId}`)));
}

/** @param {VoteLine["cause"]} cause */
function causeText(cause) {
  switch (cause) {
    case "up": return t("有用", "Helpful");
    case "down": return t("取消", "Taken back");
    default: return t("不再计入，归零", "Counts no longer");
  }
}
