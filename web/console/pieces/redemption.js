// Lookup and redemption of receipt codes.

import { Refusal, Unreachable, call, read } from "../../core/api.js";
import { t } from "../../core/language.js";
import { isKiosk } from "../../core/local-storage.js";
import { orderStatusText } from "../labels.js";

/** @typedef {import("./order-columns.js").Order} Order */
/** @typedef {{order: Order, usable: boolean, why: string}} Receipt `why`: reason for an unusable order */

const [PAID, USED] = [2, 3];
/** Order numbers are accepted where a code is unreadable. */
const ORDER_ID = /^\d{15,19}$/;

/**
 * Returns the order of a code or order number; null if not found.
 * @param {string} code
 * @param {AbortSignal} signal
 * @returns {Promise<Receipt | null>}
 */
export async function findReceipt(code, signal) {
  if (!ORDER_ID.test(code)) return toReceipt((await read(`/ops/receipts/${encodeURIComponent(code)}`, { signal })).data);
  if (isKiosk) return toReceipt((await read(`/staff/orders/${code}`, { signal })).data);
  const [order] = (await read("/ops/orders", { query: { id: code }, signal })).data;
  return order ? toReceipt(order) : null;
}

/**
 * Redeems an order and returns its new state. `usedBefore`: already redeemed at `useTime`, nothing changed.
 * @param {string} code
 * @returns {Promise<Order & {usedBefore: boolean}>}
 */
export async function redeem(code) {
  const path = ORDER_ID.test(code) ? `/voucher-order/${code}/use` : `/ops/receipts/${encodeURIComponent(code)}/use`;
  return (await call("POST", path)).data;
}

/**
 * Whether the redemption may have succeeded despite the error.
 * @param {unknown} error
 */
export function isRedemptionInDoubt(error) {
  return error instanceof Unreachable || (error instanceof Refusal && error.isTrouble);
}

/** @param {Order} order */
export function isUsed({ status }) {
  return status === USED;
}

/** @param {Order} order */
export function toReceipt(order) {
  const { status, useTime } = order;
  const why = status === USED ? usedText(useTime)
    : t(`这张订单${orderStatusText(status)}，不能核销。`, `This order cannot be redeemed: ${orderStatusText(status).toLowerCase()}.`);
  return { order, usable: status === PAID, why };
}

/** @param {string | undefined} time */
export function usedText(time = "") {
  return t(`已经在 ${time.replace("T", " ")} 核销过了。`, `Already redeemed at ${time.replace("T", " ")}.`);
}
