// An order, for staff: payment at the counter, redemption and printing.

import { get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button, linkButton } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { formatYuan } from "../../parts/price.js";
import { screenHeader } from "../../parts/screen-header.js";
import { skeletons } from "../../parts/skeleton.js";
import { orderStatusChip } from "../labels.js";
import { orderFacts } from "../pieces/order-columns.js";
import { printButton } from "../pieces/printer.js";
import { askPayment, isPayableAtCounter } from "../pieces/till.js";

/** @typedef {import("../pieces/order-columns.js").Order} Order */

const PAID = 2;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title }) {
  title(t("订单", "Order"));
  const place = h("div", { class: "stack" }, skeletons(1, "14rem"));
  root.append(screenHeader(t("订单", "Order"), { home: "/today" }), place);
  refresh();

  async function refresh() {
    try {
      show(await get(`/staff/orders/${params.id}`, { signal }));
    } catch (error) {
      if (!signal.aborted) fill(place, errorState(error, refresh));
    }
  }

  /** @param {Order} order */
  function show(order) {
    if (signal.aborted) return;
    fill(place, h("section", { class: "card pad stack" },
      h("div", { class: "row wrap" }, h("h2", { class: "mono grow" }, order.id), orderStatusChip(order.status)),
      orderFacts(order, [[t("券", "Voucher"), order.title], [t("金额", "Price"), formatYuan(order.payValue)]]),
      h("div", { class: "row wrap" },
        isPayableAtCounter(order) && button(t("柜台收款", "Record a payment"), () => askPayment(order, show), { icon: "check", look: ["main"] }),
        order.status === PAID && linkButton(t("去核销", "Redeem"), `#/redeem?code=${order.id}`, { icon: "scan", look: ["main"] }),
        order.status === PAID && printButton(order.id))));
  }
}
