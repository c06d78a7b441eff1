// A card of a voucher, ordinary or in a flash sale.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { momentAfter, msUntil } from "../../core/server-time.js";
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
 * @property {string} [endTime] end of the sale
 */

/**
 * @param {Voucher} voucher
 * @param {() => unknown} onBuy
 */
export function voucherCard(voucher, onBuy) {
  return card(voucher, [priceWithDiscount(voucher.payValue, voucher.actualValue)], button(t("购买", "Buy"), onBuy, { look: ["main"] }));
}

/**
 * @param {Voucher} voucher
 * @param {import("../../core/api.js").ApiResponse} saleResponse response of `GET /sale/{id}`
 * @param {AbortSignal} signal
 * @param {() => unknown} onChange called once the sale opens or ends
 */
export function saleVoucherCard(voucher, saleResponse, signal, onChange) {
  const { state, stock, beginsInMs, endsInMs } = saleResponse.data;
  const isUpcoming = state === "NOT_OPEN";
  const moment = momentAfter(isUpcoming ? beginsInMs : endsInMs, saleResponse);
  const status = h("span", { class: "row wrap small" }, stateChip({ state, stock }),
    h("span", { class: "quiet" }, isUpcoming ? t("距开抢 ", "opens in ") : t("距结束 ", "ends in "), countdown(moment, signal, msUntil(moment) > 0 ? onChange : undefined)));
  return card(voucher, [priceWithDiscount(voucher.payValue, voucher.actualValue), status],
    linkButton(state === "OPEN" ? t("去抢", "Go to sale") : t("去看看", "View"), `#/sale/${voucher.id}`, { look: state === "OPEN" ? ["sale"] : [] }));
}

/**
 * @param {Voucher} voucher
 * @param {Node[]} facts
 * @param {Node} actionButton
 */
function card(voucher, facts, actionButton) {
  const rules = ruleLines(voucher.rules);
  return h("article", { class: "card pad stack voucher", "aria-label": voucher.title },
    h("div", { class: "row apart" },
      h("div", { class: "stack tight grow" }, h("h3", null, voucher.title), voucher.subTitle && h("p", { class: "small quiet" }, voucher.subTitle), facts), actionButton),
    rules.length > 0 && h("details", { class: "small" }, h("summary", { class: "quiet" }, t("使用规则", "Rules")),
      h("ul", { class: "rules" }, rules.map((rule) => h("li", null, rule)))));
}

/**
 * Splits the rules into lines.
 * @param {string | undefined} rules
 * @returns {string[]}
 */
export function ruleLines(rules) {
  return (rules ?? "").split(/\\n|\n/).map((rule) => rule.trim()).filter(Boolean);
}
