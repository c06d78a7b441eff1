// Money: cents as people write them.

import { h } from "../core/dom.js";

/** @param {number} cents */
export function yuan(cents) {
  const text = (cents / 100).toFixed(2);
  return `¥${text.endsWith(".00") ? text.slice(0, -3) : text}`;
}

/** @param {number} cents */
export function price(cents) {
  const [whole, rest] = yuan(cents).split(".");
  return h("span", { class: "price" }, whole, rest && h("span", { class: "cents" }, `.${rest}`));
}

/**
 * What is paid, beside what it is worth.
 * @param {number} pay
 * @param {number} worth
 */
export function bargain(pay, worth) {
  return h("span", { class: "row wrap" }, price(pay), worth > pay && h("s", { class: "worth" }, yuan(worth)));
}
