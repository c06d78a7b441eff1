// All flash sales that are not over: those that sell, those to come, those on hold or sold out.

import { read } from "../../core/api.js";
import { h, whenSeenAgain } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { empty } from "../../parts/empty.js";
import { byPage, endless } from "../../parts/endless.js";
import { head } from "../../parts/head.js";
import { saleCard } from "../cards/sale.js";

/** @typedef {{sale: import("../cards/sale.js").Sale, answer: {sent: number, came: number}}} Listed with the answer that it came with */

/** Sales on a page of `GET /sale/on`. */
const A_PAGE = 10;

/** @param {import("../../core/router.js").Showing} showing */
export function open({ root, signal, title, settled }) {
  const name = both("限时秒杀", "Flash sales");
  title(name);
  const list = endless({
    name: "all sales", look: "sales", height: "13.3rem", signal, key: (/** @type {Listed} */ { sale }) => sale.voucherId,
    load: byPage(A_PAGE, async (current) => {
      const answer = await read("/sale/on", { query: { current }, signal });
      return answer.data.map((/** @type {Listed["sale"]} */ sale) => ({ sale, answer: { sent: answer.sent, came: answer.came } }));
    }),
    draw: ({ sale, answer }) => saleCard(sale, answer, signal),
    none: () => empty("bolt", both("现在没有秒杀，晚点再来看看。", "No sale right now; look again later.")),
  });
  root.append(head(name, { home: "/" }), h("h2", { class: "unseen" }, both("全部场次", "All sales")), list.root);
  settled();
  whenSeenAgain(signal, () => list.refresh().catch(() => {}));
}
