// Finds what a code stands for, and redeems it.

import { call, read } from "../../core/api.js";
import { both } from "../../core/language.js";
import { orderStatusText } from "../names.js";

/** @typedef {import("./order-columns.js").Order} Order */
/** @typedef {{order: Order, usable: boolean, why: string}} Receipt `why` it cannot be used */

const [PAID, USED] = [2, 3];

/**
 * What would be redeemed.
 * @param {string} code
 * @param {AbortSignal} signal
 * @returns {Promise<Receipt>}
 */
export async function lookUp(code, signal) {
  const { data } = await read("/ops/orders", { query: { id: code }, signal });
  return receipt(data[0]);
}

/**
 * Redeems it; the order as it is then.
 * @param {string} code
 * @returns {Promise<Order>}
 */
export async function use(code) {
  return (await call("POST", `/voucher-order/${code}/use`)).data;
}

/** @param {Order} order */
function receipt(order) {
  const { status, useTime } = order;
  const why = status === USED ? both(`已经在 ${useTime?.replace("T", " ")} 核销过了。`, `It was redeemed before, at ${useTime?.replace("T", " ")}.`)
    : both(`这张订单${orderStatusText(status)}，不能核销。`, `This order cannot be redeemed: ${orderStatusText(status).toLowerCase()}.`);
  return { order, usable: status === PAID, why };
}
