// All flash sales, latest first.

import { read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { meter } from "../../parts/meter.js";
import { saleStateChip } from "../labels.js";
import { timestamp } from "../pieces/timestamp.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { table } from "../pieces/table.js";

/**
 * An item of `GET /ops/sales`; unlimited sales have neither `initial` nor `left`.
 * @typedef {object} Sale
 * @property {number} voucherId
 * @property {number} shopId
 * @property {string} [shopName] missing if the shop was deleted
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

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, signal, title } = context;
  title(t("秒杀", "Sales"));
  const list = listing(context, {
    size: 10,
    load: async (current) => {
      const { data, total } = await read("/ops/sales", { query: { current }, signal });
      return { rows: data, total };
    },
    draw: (rows) => table(t("秒杀", "Sales"), columns(), rows),
    none: () => emptyState("bolt", t("还没有秒杀。", "No sales yet."), linkButton(t("新建秒杀", "New sale"), "#/sales/new", { look: ["main"] })),
  });
  root.append(heading(t("秒杀", "Sales"), linkButton(t("新建秒杀", "New sale"), "#/sales/new", { look: ["main"], icon: "plus" })), list.root);
}

/** @returns {import("../pieces/table.js").Column<Sale>[]} */
function columns() {
  return [
    { title: t("秒杀", "Sale"), look: "wide", cell: ({ voucherId, title, shopName }) =>
      h("span", { class: "stack tight" }, h("a", { href: `#/sale/${voucherId}` }, title), h("span", { class: "small quiet" }, shopName)) },
    { title: t("状态", "State"), cell: ({ state, paused }) => saleStateChip(state, paused) },
    { title: t("剩余", "Left"), look: "wide", cell: stockCell },
    { title: t("已抢", "Claimed"), look: "number", cell: ({ taken }) => taken.toLocaleString() },
    { title: t("待写入", "Pending"), look: "number", cell: ({ pending }) => pending.toLocaleString() },
    { title: t("开始", "Begins"), cell: ({ beginTime }) => timestamp(beginTime) },
    { title: t("结束", "Ends"), cell: ({ endTime }) => timestamp(endTime) },
  ];
}

/** @param {Sale} sale */
function stockCell({ title, initial, added, left }) {
  if (initial === undefined || left === undefined) return t("不限量", "Unlimited");
  const bar = meter(t(`${title}的剩余库存`, `Units left of ${title}`));
  bar.show(left, initial + added);
  return h("span", { class: "stack tight" }, bar.root, h("span", { class: "small quiet number" }, `${left.toLocaleString()} / ${(initial + added).toLocaleString()}`));
}
