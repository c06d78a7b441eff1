// Orders, as they are read and as they go on.

import { call, read } from "../core/api.js";
import { getCached, setCached, invalidate } from "../core/copies.js";
import { momentAfter } from "../core/moments.js";

/**
 * @typedef {object} Order
 * @property {string} id
 * @property {number} voucherId
 * @property {number} [shopId]
 * @property {string} title
 * @property {number} payValue cents
 * @property {number} status one of `STATUS`
 * @property {string} payment how it is paid for: `none` is final without a payment
 * @property {string} createTime
 * @property {string} [payTime]
 * @property {string} [useTime]
 * @property {string} [refundTime]
 * @property {string} [deadline]
 * @property {import("../core/moments.js").Moment} [due] when it is too late to pay, by the mall's time
 */

export const STATUS = { coming: 0, unpaid: 1, paid: 2, used: 3, cancelled: 4, refunding: 5, refunded: 6 };
/** Orders on a page of the list. */
export const ORDERS_A_PAGE = 10;

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Order>}
 */
export async function readOrder(id, signal) {
  const answer = await read(`/voucher-order/${id}`, { signal });
  return known(answer.data, answer);
}

/**
 * One's own, newest first.
 * @param {number} current
 * @param {AbortSignal} signal
 * @returns {Promise<Order[]>}
 */
export async function readOrders(current, signal) {
  const answer = await read("/voucher-order/of/me", { query: { current }, signal });
  return answer.data.map((/** @type {any} */ order) => known(order, answer));
}

/**
 * Takes an order a step on. A step that was taken already is taken, so it can be repeated.
 * @param {string} id
 * @param {"pay" | "cancel" | "refund"} step
 * @returns {Promise<Order>}
 */
export async function take(id, step) {
  const answer = await call("POST", `/voucher-order/${id}/${step}`);
  return known(answer.data, answer);
}

/**
 * @param {any} order
 * @param {import("../core/api.js").ApiResponse} answer
 * @returns {Order}
 */
function known(order, answer) {
  const whole = order.deadlineInMs === undefined ? order : { ...order, due: momentAfter(order.deadlineInMs, answer) };
  const old = /** @type {Order | undefined} */ (getCached(`order ${order.id}`));
  if (old && old.status !== order.status) invalidate("orders");
  setCached(`order ${order.id}`, whole);
  return whole;
}
