// An order with its actions.

import { Refusal, call, read } from "../../core/api.js";
import { setCached, invalidate, staleWhileRevalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { screenHeader } from "../../parts/screen-header.js";
import { button, linkButton } from "../../parts/button.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { formatYuan } from "../../parts/price.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { orderStatusChip, orderStatusText } from "../labels.js";
import { askReason } from "../pieces/reason-dialog.js";
import { staleNotice } from "../pieces/stale-notice.js";
import { orderFacts } from "../pieces/order-columns.js";
import { printButton } from "../pieces/printer.js";
import { askPayment, askRefund, isPayableAtCounter, isRefundableAtCounter } from "../pieces/till.js";

/** @typedef {import("../pieces/order-columns.js").Order} Order */

const [UNPAID, PAID, REFUNDING] = [1, 2, 5];

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title, restoreScroll }) {
  title(t("订单", "Order"));
  const copyName = `console order ${params.id}`;
  const place = h("div", { class: "stack" }, skeletons(1, "14rem"));
  root.append(screenHeader(t("订单", "Order"), { home: "/orders" }), place);
  refresh();

  /** @returns {Promise<Order | undefined>} */
  async function readOrder() {
    return (await read("/ops/orders", { query: { id: params.id }, signal })).data[0];
  }

  async function refresh() {
    try {
      const isNow = await staleWhileRevalidate(copyName, readOrder, show);
      if (!isNow && !signal.aborted) place.prepend(staleNotice(refresh));
    } catch (error) {
      if (!signal.aborted) fill(place, errorState(error, refresh));
    }
  }

  /** @param {Order | undefined} order */
  function show(order) {
    if (signal.aborted) return;
    fill(place, order ? orderCard(order) : emptyState("order", t("订单不存在。", "Order not found.")));
    restoreScroll();
  }

  /** @param {Order} order */
  function orderCard(order) {
    return h("section", { class: "card pad stack" },
      h("div", { class: "row wrap" }, h("h2", { class: "mono grow" }, order.id), orderStatusChip(order.status)),
      orderFacts(order, [[t("券", "Voucher"), order.title], [t("金额", "Price"), formatYuan(order.payValue)]]),
      h("div", { class: "row wrap" },
        isPayableAtCounter(order) && button(t("柜台收款", "Record a payment"), () => askPayment(order, onChange), { icon: "check", look: ["main"] }),
        order.status === PAID && linkButton(t("去核销", "Redeem"), `#/redeem?code=${order.id}`, { icon: "scan", look: ["main"] }),
        order.status === PAID && printButton(order.id),
        order.shopId && linkButton(t("店铺和券", "Shop and vouchers"), `#/shop/${order.shopId}`, { icon: "shop" }),
        [UNPAID, PAID, REFUNDING].includes(order.status) && button(voidText(order), () => (isRefundableAtCounter(order) ? askRefund(order, onChange) : confirmVoid(order)), { icon: "trash", look: ["danger"] })));
  }

  /** @param {Order} order */
  function confirmVoid(order) {
    return askReason(voidText(order), order.status === UNPAID
      ? t("订单会取消，占用的名额还给库存，买家可以再抢。", "The order is cancelled, the unit returns to the stock, and the buyer may buy again.")
      : t("订单会退款，占用的名额还给库存，买家可以再抢。", "The order is refunded, the unit returns to the stock, and the buyer may buy again."),
    voidText(order), async (reason) => {
      try {
        // The expected status is sent: cancelling an unpaid order must not refund an order paid meanwhile.
        const { data } = await call("POST", `/ops/orders/${order.id}/void`, { body: { reason, status: order.status } });
        showToast(t("订单已作废", "Order voided"));
        onChange(data);
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== "ORDER_STANDS") throw error;
        const now = await readOrder();
        onChange(now);
        showToast(now ? t(`没有作废：订单现在是“${orderStatusText(now.status)}”，请再看一次`, `Not voided: the order is now “${orderStatusText(now.status)}”. Check again`)
          : error.message, { bad: true });
      }
    }, t("保留订单", "Keep the order"));
  }

  /** @param {Order | undefined} order */
  function onChange(order) {
    // Cached lists contain the old status.
    invalidate("console /orders");
    setCached(copyName, order);
    show(order);
  }
}

/** @param {Order} order */
function voidText(order) {
  if (isRefundableAtCounter(order)) return t("柜台退款", "Refund at the counter");
  return order.status === UNPAID ? t("取消订单", "Cancel the order") : t("退款", "Refund");
}
