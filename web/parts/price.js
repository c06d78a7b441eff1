// Prices, converted from cents to yuan.

import { h } from "../core/dom.js";

/** @param {number} cents */
export function formatYuan(cents) {
  const text = (cents / 100).toFixed(2);
  return `¥${text.endsWith(".00") ? text.slice(0, -3) : text}`;
}

/** @param {number} cents */
export function price(cents) {
  const [whole, fraction] = formatYuan(cents).split(".");
  return h("span", { class: "price" }, whole, fraction && h("span", { class: "cents" }, `.${fraction}`));
}

/**
 * Shows the price with the crossed-out value.
 * @param {number} payValue
 * @param {number} actualValue
 */
export function priceWithDiscount(payValue, actualValue) {
  return h("span", { class: "row wrap" }, price(payValue), actualValue > payValue && h("s", { class: "worth" }, formatYuan(actualValue)));
}
