// The user's orders.

import { fill, h, onVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { icon } from "../../parts/icons.js";
import { byPage, infiniteList } from "../../parts/infinite-list.js";
import { orderCard } from "../cards/order.js";
import { requireLoginThroughout } from "../login-guard.js";
import { ORDERS_PER_PAGE, STATUS, readOrder, readOrders } from "../orders.js";

/** @typedef {import("../orders.js").Order} Order */

/** Poll interval of orders whose status changes on its own. */
const POLL_EVERY_MS = 1_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title, restoreScroll }) {
  title(t("我的订单", "My orders"));
  if (!requireLoginThroughout(signal)) return;
  const list = infiniteList({
    name: "orders", look: "stack", height: "4.9rem", signal, key: (/** @type {Order} */ order) => order.id,
    load: byPage(ORDERS_PER_PAGE, (current) => readOrders(current, signal)),
    draw: (order) => orderRow(order, signal),
    none: () => emptyState("order", t("还没有订单。", "No orders yet."), linkButton(t("去逛逛", "Look around"), "#/shops", { look: ["main"] })),
  });
  root.append(h("div", { class: "middle stack" }, h("h1", { class: "screen-title" }, t("我的订单", "My orders")), list.root));
  restoreScroll();
  onVisible(signal, () => list.refresh().catch(() => {}));
}

/**
 * A row that follows the status of its order.
 * @param {Order} first
 * @param {AbortSignal} signal
 */
function orderRow(first, signal) {
  const place = h("div");
  render(first);

  /** @param {Order} order */
  function render(order) {
    fill(place, orderCard(order, signal, schedulePoll), reviewLink(order));
    if (order.status === STATUS.coming || order.status === STATUS.refunding) schedulePoll();
  }

  function schedulePoll() {
    setTimeout(async () => {
      if (signal.aborted) return;
      try {
        render(await readOrder(first.id, signal));
      } catch {
        schedulePoll();
      }
    }, POLL_EVERY_MS);
  }

  return place;
}

/**
 * A used order can be reviewed once; a deleted review leaves nothing to do.
 * @param {Order} order
 */
function reviewLink({ id, title, review }) {
  if (review === undefined || review?.deleted) return false;
  const [text, label, to] = review
    ? [t("查看评价", "See your review"), t(`查看评价：${title}`, `See your review: ${title}`), `#/review/${review.remarkId}`]
    : [t("写评价", "Write a review"), t(`写评价：${title}`, `Write a review: ${title}`), `#/review?order=${id}`];
  return h("p", { class: "order-after" }, h("a", { class: "button bare", href: to, "aria-label": label }, icon("star"), h("span", null, text)));
}
