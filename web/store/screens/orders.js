// One's own orders.

import { fill, h, onVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { byPage, infiniteList } from "../../parts/infinite-list.js";
import { orderCard } from "../cards/order.js";
import { staysIn } from "../entry.js";
import { ORDERS_A_PAGE, STATUS, readOrder, readOrders } from "../orders.js";

/** @typedef {import("../orders.js").Order} Order */

/** How soon an order is looked at again that goes on by itself. */
const AGAIN_MS = 1_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title, restoreScroll }) {
  title(t("我的订单", "My orders"));
  if (!staysIn(signal)) return;
  const list = infiniteList({
    name: "orders", look: "stack", height: "4.9rem", signal, key: (/** @type {Order} */ order) => order.id,
    load: byPage(ORDERS_A_PAGE, (current) => readOrders(current, signal)),
    draw: (order) => row(order, signal),
    none: () => emptyState("order", t("还没有订单。", "No orders yet."), linkButton(t("去逛逛", "Look around"), "#/shops", { look: ["main"] })),
  });
  root.append(h("div", { class: "middle stack" }, h("h1", { class: "screen-title" }, t("我的订单", "My orders")), list.root));
  restoreScroll();
  onVisible(signal, () => list.refresh().catch(() => {}));
}

/**
 * An order that draws itself anew when it has gone on.
 * @param {Order} first
 * @param {AbortSignal} signal
 */
function row(first, signal) {
  const place = h("div");
  draw(first);

  /** @param {Order} order */
  function draw(order) {
    fill(place, orderCard(order, signal, soon));
    if (order.status === STATUS.coming || order.status === STATUS.refunding) soon();
  }

  function soon() {
    setTimeout(async () => {
      if (signal.aborted) return;
      try {
        draw(await readOrder(first.id, signal));
      } catch {
        soon();
      }
    }, AGAIN_MS);
  }

  return place;
}
