// Orders in tables and on their own, for operators.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { isKiosk } from "../../core/local-storage.js";
import { formatYuan } from "../../parts/price.js";
import { orderStatusChip, paymentStateText, paymentText } from "../labels.js";
import { timestamp } from "./timestamp.js";

/**
 * An item of `GET /ops/orders`.
 * @typedef {object} Order
 * @property {string} id
 * @property {number} voucherId
 * @property {string} title
 * @property {number} payValue cents
 * @property {number} status
 * @property {string} payment method; `none` needs no payment, `counter` is recorded by an operator, `webhook` goes through a gateway
 * @property {string} [paymentState] at the gateway, of an order read alone: `pending`, `declined` or `reversed`
 * @property {string} createTime
 * @property {string} [payTime]
 * @property {string} [useTime]
 * @property {string} [refundTime]
 * @property {string} [deadline]
 * @property {number} [shopId]
 * @property {number} userId
 * @property {string} [phone] staff see a part
 * @property {boolean} [walkIn] bought at the counter, without an account
 */

/** @returns {import("./table.js").Column<Order>[]} */
export function orderColumns() {
  return [
    { title: t("订单", "Order"), cell: ({ id }) => h("a", { href: `#/order/${id}`, class: "mono" }, id) },
    { title: t("状态", "Status"), cell: ({ status }) => orderStatusChip(status) },
    { title: t("券", "Voucher"), look: "wide", cell: ({ title }) => title },
    { title: t("买家", "Buyer"), cell: buyer },
    { title: t("金额", "Price"), look: "number", cell: ({ payValue }) => formatYuan(payValue) },
    { title: t("下单", "Ordered"), cell: ({ createTime }) => timestamp(createTime) },
    { title: t("支付", "Paid"), cell: ({ payTime }) => timestamp(payTime) },
    { title: t("支付方式", "Payment"), cell: ({ payment }) => paymentText(payment) },
  ];
}

/** @param {{userId: number, phone?: string, walkIn?: boolean}} order */
export function buyer({ userId, phone, walkIn }) {
  if (walkIn) return t("散客", "walk-in customer");
  // Staff have no list of a user's orders.
  if (isKiosk) return phone ?? t(`用户 ${userId}`, `user ${userId}`);
  return h("a", { href: `#/orders?user=${userId}` }, phone ?? t(`用户 ${userId}`, `user ${userId}`));
}

/**
 * @param {Order} order
 * @param {[string, import("../../core/dom.js").Child][]} [first] facts shown first
 */
export function orderFacts(order, first = []) {
  const facts = [...first, [t("买家", "Buyer"), buyer(order)], [t("下单", "Ordered"), timestamp(order.createTime)]];
  facts.push([t("支付方式", "Payment"), paymentText(order.payment)]);
  if (order.paymentState) facts.push([t("支付网关", "Gateway"), paymentStateText(order.paymentState)]);
  if (order.deadline) facts.push([t("支付期限", "To be paid by"), timestamp(order.deadline)]);
  if (order.payTime) facts.push([t("支付", "Paid"), timestamp(order.payTime)]);
  if (order.useTime) facts.push([t("核销", "Used"), timestamp(order.useTime)]);
  if (order.refundTime) facts.push([t("退款", "Refunded"), timestamp(order.refundTime)]);
  return h("dl", { class: "terms" }, facts.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}
