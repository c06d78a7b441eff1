// What a kiosk advertises: the sales of the mall, or the vouchers of its only shop.

import { get, read } from "../../core/api.js";
import { momentAfter } from "../../core/server-time.js";
import { firstPicture } from "../../parts/picture.js";
import { readShopVouchers } from "../shop-vouchers.js";
import { ONLY_SHOP } from "./options.js";

/**
 * @typedef {object} Offer
 * @property {string} title
 * @property {string} [shop] name of the shop
 * @property {string} [picture]
 * @property {number} payValue cents
 * @property {number} actualValue cents
 * @property {{moment: import("../../core/server-time.js").Moment, isUpcoming: boolean}} [until] opening or end of
 * a sale
 */

/** @typedef {{payValue: number, actualValue: number, title: string}} Priced */

/** Most offers in a loop. */
const OFFERS_MAX = 8;
/** States of sales worth a visitor's time. */
const WANTED = ["OPEN", "NOT_OPEN"];

/**
 * @param {AbortSignal} signal
 * @returns {Promise<Offer[]>}
 */
export async function readOffers(signal) {
  return (await (ONLY_SHOP === null ? ofMall(signal) : ofShop(ONLY_SHOP, signal))).slice(0, OFFERS_MAX);
}

/** @param {AbortSignal} signal */
async function ofMall(signal) {
  const answer = await read("/sale/on", { signal });
  /** @type {import("../cards/sale.js").Sale[]} */
  const sales = answer.data;
  return sales.filter(({ state }) => WANTED.includes(state)).map((sale) => offer(sale, sale.shop, until(sale, answer)));
}

/**
 * @param {string} id
 * @param {AbortSignal} signal
 */
async function ofShop(id, signal) {
  const [shop, { sales, ordinary }] = await Promise.all([get(`/shop/${id}`, { signal }), readShopVouchers(id, signal)]);
  const wanted = sales.filter(({ live }) => WANTED.includes(live.data.state));
  return [...wanted.map(({ voucher, live }) => offer(voucher, shop, until(live.data, live))), ...ordinary.map((voucher) => offer(voucher, shop))];
}

/**
 * @param {Priced} priced
 * @param {{name: string, images: string}} [shop]
 * @param {Offer["until"]} [end]
 * @returns {Offer}
 */
function offer({ title, payValue, actualValue }, shop, end) {
  return { title, payValue, actualValue, shop: shop?.name, picture: firstPicture(shop?.images), until: end };
}

/**
 * @param {{state: string, beginsInMs: number, endsInMs: number}} sale
 * @param {import("../../core/api.js").ApiResponse} answer
 */
function until({ state, beginsInMs, endsInMs }, answer) {
  const isUpcoming = state === "NOT_OPEN";
  return { moment: momentAfter(isUpcoming ? beginsInMs : endsInMs, answer), isUpcoming };
}
