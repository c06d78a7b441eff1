// A card of a flash sale: price, stock and times.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { momentAfter } from "../../core/server-time.js";
import { chip } from "../../parts/chip.js";
import { countdown } from "../../parts/countdown.js";
import { firstPicture, picture } from "../../parts/picture.js";
import { priceWithDiscount } from "../../parts/price.js";

/**
 * @typedef {object} Sale an item of `GET /sale/on`
 * @property {number} voucherId
 * @property {string} title
 * @property {string} subTitle
 * @property {number} payValue cents
 * @property {number} actualValue cents
 * @property {{id: number, name: string, images: string}} [shop]
 * @property {number} stock −1: unlimited
 * @property {"NOT_OPEN" | "OPEN" | "PAUSED" | "SOLD_OUT" | "ENDED"} state
 * @property {number} beginsInMs
 * @property {number} endsInMs
 */

/**
 * @param {Sale} sale
 * @param {{sentAt: number, receivedAt: number}} times of the response with the sale
 * @param {AbortSignal} signal
 */
export function saleCard(sale, times, signal) {
  const isUpcoming = sale.state === "NOT_OPEN";
  const moment = momentAfter(isUpcoming ? sale.beginsInMs : sale.endsInMs, times);
  return h("a", { class: "card sale-card", href: `#/sale/${sale.voucherId}` },
    h("span", { class: "sale-card-picture" }, picture(firstPicture(sale.shop?.images), "", { eager: true })),
    h("span", { class: "stack tight" },
      h("h3", { class: "cut" }, sale.title),
      h("span", { class: "small quiet cut" }, sale.shop?.name),
      priceWithDiscount(sale.payValue, sale.actualValue),
      h("span", { class: "row wrap small" },
        stateChip(sale),
        h("span", { class: "quiet" }, isUpcoming ? t("距开抢", "opens in") : t("距结束", "ends in"), " ", countdown(moment, signal)))));
}

/** @param {{state: string, stock: number}} sale */
export function stateChip({ state, stock }) {
  switch (state) {
    case "NOT_OPEN": return chip(t("即将开抢", "Upcoming"), "accent");
    case "OPEN": return chip(stock < 0 ? t("不限量", "Unlimited") : t(`剩 ${stock}`, `${stock} left`), "sale");
    case "SOLD_OUT": return chip(t("已抢光", "Sold out"));
    case "PAUSED": return chip(t("已暂停", "Paused"));
    default: return chip(t("已结束", "Ended"));
  }
}
