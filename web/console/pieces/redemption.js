// Finds what a code stands for, and redeems it.

import { Refusal, Unreachable, call, read } from "../../core/api.js";
import { t } from "../../core/language.js";
import { orderStatusText } from "../names.js";

/** @typedef {import("./order-columns.js").Order} Order */
/** @typedef {{order: Order, usable: boolean, why: string}} Receipt `why` it cannot be used */

const [PAID, USED] = [2, 3];
/** The number of an order, where its code cannot be read. */
const ORDER = /^\d{15,19}$/;

/**
 * What would be redeemed; nothing if no order has that number.
 * @param {string} code
 * @param {AbortSignal} signal
 * @returns {Promise<Receipt | null>}
 */
export async function lookUp(code, signal) {
  if (!ORDER.test(code)) return receipt((await read(`/ops/receipts/${encodeURIComponent(code)}`, { signal })).data);
  const [order] = (await read("/ops/orders", { query: { id: code }, signal })).data;
  return order ? receipt(order) : null;
}

/**
 * Redeems it; the order as it is then. `usedBefore`: at its `useTime`, and nothing changed.
 * @param {string} code
 * @returns {Promise<Order & {usedBefore: boolean}>}
 */
export async function use(code) {
  const path = ORDER.test(code) ? `/voucher-order/${code}/use` : `/ops/receipts/${encodeURIComponent(code)}/use`;
  return (await call("POST", path)).data;
}

/**
 * Whether it may have been redeemed all the same.
 * @param {unknown} error
 */
export function isUnsure(error) {
  return error instanceof Unreachable || (error instanceof Refusal && error.isTrouble);
}

/** @param {Order} order */
export function isUsed({ status }) {
  return status === USED;
}

/** @param {Order} order */
function receipt(order) {
  const { status, useTime } = order;
  const why = status === USED ? usedText(useTime)
    : t(`这张订单${orderStatusText(status)}，不能核销。`, `This order cannot be redeemed: ${orderStatusText(status).toLowerCase()}.`);
  return { order, usable: status === PAID, why };
}

/** @param {string | undefined} time */
export function usedText(time = "") {
  return t(`已经在 ${time.replace("T", " ")} 核销过了。`, `It was redeemed before, at ${time.replace("T", " ")}.`);
}
