// Reading and changing orders.

import { call, read } from "../core/api.js";
import { getCached, setCached, invalidate } from "../core/cache.js";
import { isKiosk } from "../core/local-storage.js";
import { momentAfter } from "../core/server-time.js";
import { reviewsOfOrders } from "./reviews/post.js";

/**
 * @typedef {object} Order
 * @property {string} id
 * @property {number} voucherId
 * @property {number} [shopId]
 * @property {string} title
 * @property {number} payValue cents
 * @property {number} status one of `STATUS`
 * @property {string} payment method; `none` needs no payment, `counter` is paid there, `webhook` through a gateway
 * @property {string} [paymentState] at the gateway, of an order read alone: `pending`, `declined` or `reversed`
 * @property {string} [payUrl] where to pay at the gateway, in the response to the step `pay`
 * @property {import("../parts/qr-code.js").Qr} [payQr] the same as a QR code
 * @property {string} createTime
 * @property {string} [payTime]
 * @property {string} [useTime]
 * @property {string} [refundTime]
 * @property {string} [deadline]
 * @property {import("../core/server-time.js").Moment} [due] deadline for the payment, in server time
 * @property {import("./reviews/post.js").OrderReview | null} [review] of a used order in a list; `null` for none
 */

export const STATUS = { coming: 0, unpaid: 1, paid: 2, used: 3, cancelled: 4, refunding: 5, refunded: 6 };
/** @param {Order} order */
export function isPaidAtCounter({ payment }) {
  return payment === "counter";
}

/** Orders per page of the list. */
export const ORDERS_PER_PAGE = 10;

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Order>}
 */
export async function readOrder(id, signal) {
  const response = await read(`/voucher-order/${id}`, { signal });
  return withDueTime(response.data, response);
}

/**
 * Reads a page of the user's orders, newest first, with the reviews of used ones.
 * @param {number} current
 * @param {AbortSignal} signal
 * @returns {Promise<Order[]>}
 */
export async function readOrders(current, signal) {
  const response = await read("/voucher-order/of/me", { query: { current }, signal });
  return withReviews(response.data.map((/** @type {any} */ order) => withDueTime(order, response)), signal);
}

/**
 * Adds the reviews of used orders. Without a response the orders are shown without.
 * @param {Order[]} orders
 * @param {AbortSignal} signal
 * @returns {Promise<Order[]>}
 */
async function withReviews(orders, signal) {
  const used = orders.filter(({ status }) => status === STATUS.used).map(({ id }) => id);
  if (used.length === 0 || isKiosk) return orders;
  const reviews = await reviewsOfOrders(used, signal).catch(() => undefined);
  if (!reviews) return orders;
  return orders.map((order) => (used.includes(order.id) ? { ...order, review: reviews.find(({ orderId }) => orderId === order.id) ?? null } : order));
}

/**
 * Pays, cancels or refunds an order. Repeating a completed step changes nothing.
 * @param {string} id
 * @param {"pay" | "cancel" | "refund"} step
 * @returns {Promise<Order>}
 */
export async function changeOrder(id, step) {
  const response = await call("POST", `/voucher-order/${id}/${step}`);
  return withDueTime(response.data, response);
}

/**
 * @param {any} order
 * @param {import("../core/api.js").ApiResponse} response
 * @returns {Order}
 */
function withDueTime(order, response) {
  const complete = order.deadlineInMs === undefined ? order : { ...order, due: momentAfter(order.deadlineInMs, response) };
  const previous = /** @type {Order | undefined} */ (getCached(`order ${order.id}`));
  if (previous && previous.status !== order.status) invalidate("orders");
  setCached(`order ${order.id}`, complete);
  return complete;
}
