// A voucher of a shop: sold at any time, or in a flash sale.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { momentAfter, msUntil } from "../../core/moments.js";
import { button, linkButton } from "../../parts/button.js";
import { countdown } from "../../parts/countdown.js";
import { priceWithDiscount } from "../../parts/price.js";
import { stateChip } from "./sale.js";

/**
 * @typedef {object} Voucher
 * @property {number} id
 * @property {number} shopId
 * @property {string} title
 * @property {string} subTitle
 * @property {string} rules
 * @property {number} payValue cents
 * @property {number} actualValue cents
 * @property {number} type 0 ordinary, 1 in a flash sale
 * @property {string} [endTime] of the sale
 */

/**
 * @param {Voucher} voucher
 * @param {() => unknown} buy
 */
export function voucherCard(voucher, buy) {
  return card(voucher, [priceWithDiscount(voucher.payValue, voucher.actualValue)], button(t("购买", "Buy"), buy, { look: ["main"] }));
}

/**
 * @param {Voucher} voucher
 * @param {import("../../core/api.js").ApiResponse} live its sale
 * @param {AbortSignal} signal
 * @param {() => unknown} over once it begins, or ends
 */
export function saleVoucherCard(voucher, live, signal, over) {
  const { state, stock, beginsInMs, endsInMs } = live.data;
  const isComing = state === "NOT_OPEN";
  const moment = momentAfter(isComing ? beginsInMs : endsInMs, live);
  const runs = h("span", { class: "row wrap small" }, stateChip({ state, stock }),
    h("span", { class: "quiet" }, isComing ? t("距开抢 ", "opens in ") : t("距结束 ", "ends in "), countdown(moment, signal, msUntil(moment) > 0 ? over : undefined)));
  return card(voucher, [priceWithDiscount(voucher.payValue, voucher.actualValue), runs],
    linkButton(state === "OPEN" ? t("去抢", "To the sale") : t("去看看", "Look"), `#/sale/${voucher.id}`, { look: state === "OPEN" ? ["sale"] : [] }));
}

/**
 * @param {Voucher} voucher
 * @param {Node[]} facts
 * @param {Node} act
 */
function card(voucher, facts, act) {
  const rules = rulesOf(voucher.rules);
  return h("article", { class: "card pad stack voucher", "aria-label": voucher.title },
    h("div", { class: "row apart" },
      h("div", { class: "stack tight grow" }, h("h3", null, voucher.title), voucher.subTitle && h("p", { class: "small quiet" }, voucher.subTitle), facts), act),
    rules.length > 0 && h("details", { class: "small" }, h("summary", { class: "quiet" }, t("使用规则", "Rules")),
      h("ul", { class: "rules" }, rules.map((rule) => h("li", null, rule)))));
}

/**
 * Rules, a line each.
 * @param {string | undefined} rules
 * @returns {string[]}
 */
export function rulesOf(rules) {
  return (rules ?? "").split(/\\n|\n/).map((rule) => rule.trim()).filter(Boolean);
}
