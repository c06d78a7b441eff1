// Every flash sale, the latest first.

import { read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { empty } from "../../parts/empty.js";
import { meter } from "../../parts/meter.js";
import { saleState } from "../names.js";
import { exactly } from "../pieces/exactly.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { table } from "../pieces/table.js";

/**
 * A sale as `GET /ops/sales` tells it; an unlimited one has neither `initial` nor `left`.
 * @typedef {object} Sale
 * @property {number} voucherId
 * @property {number} shopId
 * @property {string} [shopName] nothing if the shop is gone
 * @property {string} title
 * @property {number} status of its voucher
 * @property {string} state
 * @property {string} beginTime
 * @property {string} endTime
 * @property {boolean} paused
 * @property {number} payWithinSeconds
 * @property {number} minLevel
 * @property {number} [initial]
 * @property {number} added
 * @property {number} [left]
 * @property {number} taken
 * @property {number} pending
 */

/** @param {import("../../core/router.js").Showing} showing */
export function open(showing) {
  const { root, signal, title } = showing;
  title(both("秒杀", "Sales"));
  const list = listing(showing, {
    size: 10,
    load: async (current) => {
      const { data, total } = await read("/ops/sales", { query: { current }, signal });
      return { rows: data, total };
    },
    draw: (rows) => table(both("秒杀", "Sales"), columns(), rows),
    none: () => empty("bolt", both("还没有秒杀。", "No sale yet."), linkButton(both("新建秒杀", "New sale"), "#/sales/new", { look: ["main"] })),
  });
  root.append(heading(both("秒杀", "Sales"), linkButton(both("新建秒杀", "New sale"), "#/sales/new", { look: ["main"], icon: "plus" })), list.root);
}

/** @returns {import("../pieces/table.js").Column<Sale>[]} */
function columns() {
  return [
    { title: both("秒杀", "Sale"), look: "wide", cell: ({ voucherId, title, shopName }) =>
      h("span", { class: "stack tight" }, h("a", { href: `#/sale/${voucherId}` }, title), h("span", { class: "small quiet" }, shopName)) },
    { title: both("状态", "State"), cell: ({ state, paused }) => saleState(state, paused) },
    { title: both("剩余", "Left"), look: "wide", cell: stockCell },
    { title: both("已抢", "Taken"), look: "number", cell: ({ taken }) => taken.toLocaleString() },
    { title: both("待写入", "To be written"), look: "number", cell: ({ pending }) => pending.toLocaleString() },
    { title: both("开始", "Begins"), cell: ({ beginTime }) => exactly(beginTime) },
    { title: both("结束", "Ends"), cell: ({ endTime }) => exactly(endTime) },
  ];
}

/** @param {Sale} sale */
function stockCell({ title, initial, added, left }) {
  if (initial === undefined || left === undefined) return both("不限量", "Unlimited");
  const bar = meter(both(`${title}的剩余库存`, `Units left of ${title}`));
  bar.show(left, initial + added);
  return h("span", { class: "stack tight" }, bar.root, h("span", { class: "small quiet number" }, `${left.toLocaleString()} / ${(initial + added).toLocaleString()}`));
}
