// All flash sales that are not over: open, upcoming, paused or sold out.

import { read } from "../../core/api.js";
import { h, onVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { emptyState } from "../../parts/empty-state.js";
import { byPage, infiniteList } from "../../parts/infinite-list.js";
import { screenHeader } from "../../parts/screen-header.js";
import { saleCard } from "../cards/sale.js";

/**
 * @typedef {{sale: import("../cards/sale.js").Sale, answer: {sentAt: number, receivedAt: number}}} ListedSale
 * with the times of its response
 */

/** Sales per page of `GET /sale/on`. */
const A_PAGE = 10;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title, restoreScroll }) {
  const name = t("限时秒杀", "Flash sales");
  title(name);
  const list = infiniteList({
    name: "all sales", look: "sales", height: "13.3rem", signal, key: (/** @type {ListedSale} */ { sale }) => sale.voucherId,
    load: byPage(A_PAGE, async (current) => {
      const response = await read("/sale/on", { query: { current }, signal });
      return response.data.map((/** @type {ListedSale["sale"]} */ sale) => ({ sale, answer: { sentAt: response.sentAt, receivedAt: response.receivedAt } }));
    }),
    draw: ({ sale, answer: response }) => saleCard(sale, response, signal),
    none: () => emptyState("bolt", t("现在没有秒杀，晚点再来看看。", "No flash sales right now. Check back later.")),
  });
  root.append(screenHeader(name, { home: "/" }), h("h2", { class: "unseen" }, t("全部场次", "All sales")), list.root);
  restoreScroll();
  onVisible(signal, () => list.refresh().catch(() => {}));
}
