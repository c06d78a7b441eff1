// A card of an order: title, status, and time left to pay.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chip } from "../../parts/chip.js";
import { countdown } from "../../parts/countdown.js";
import { icon } from "../../parts/icons.js";
import { price } from "../../parts/price.js";
import { dateTime } from "../../parts/date-time.js";
import { STATUS, isPaidAtCounter } from "../orders.js";

/** @typedef {import("../orders.js").Order} Order */

/**
 * @param {Order} order
 * @param {AbortSignal} signal
 * @param {() => void} onExpired called once the time to pay is over
 */
export function orderCard(order, signal, onExpired) {
  return h("a", { class: "card pad row order-card", href: `#/order/${order.id}` },
    h("span", { class: "order-mark" }, icon("ticket")),
    h("span", { class: "stack tight grow" },
      h("span", { class: "row apart" }, h("strong", { class: "cut" }, order.title || t("已下架的券", "Voucher no longer available")), statusChip(order.status)),
      h("span", { class: "row apart small" },
        order.due === undefined ? h("span", { class: "quiet" }, dateTime(order.createTime))
          : h("span", { class: "order-due" }, t("请在 ", "Pay within "), countdown(order.due, signal, onExpired), isPaidAtCounter(order) ? t(" 内到柜台付款", " at the counter") : t(" 内付款", "")),
        price(order.payValue))));
}

/** @param {number} status */
export function statusChip(status) {
  switch (status) {
    case STATUS.coming: return chip(t("处理中", "Processing"), "accent");
    case STATUS.unpaid: return chip(t("待付款", "Awaiting payment"), "sale");
    case STATUS.paid: return chip(t("待使用", "Ready to use"), "good");
    case STATUS.used: return chip(t("已使用", "Used"));
    case STATUS.cancelled: return chip(t("已取消", "Cancelled"));
    case STATUS.refunding: return chip(t("退款中", "Refunding"), "accent");
    default: return chip(t("已退款", "Refunded"));
  }
}
