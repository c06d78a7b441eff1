// Dead letters: claims that could not become orders, to be replayed or voided.

import { call, read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { go } from "../../core/router.js";
import { button } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { choice } from "../../parts/choice.js";
import { emptyState } from "../../parts/empty-state.js";
import { confirmAction } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { refreshPendingCounts } from "../pending-counts.js";
import { timestamp } from "../pieces/timestamp.js";
import { heading } from "../pieces/heading.js";
import { listing, withQuery } from "../pieces/listing.js";
import { buyer } from "../pieces/order-columns.js";
import { table } from "../pieces/table.js";

/**
 * An item of `GET /ops/dead-letters`.
 * @typedef {object} DeadLetter
 * @property {string} order
 * @property {number} voucherId
 * @property {string} title
 * @property {number} userId
 * @property {string} [phone]
 * @property {string} reason
 * @property {string} detail
 * @property {number} attempts
 * @property {boolean} holdsUnit
 * @property {"OPEN" | "REPLAYED" | "VOIDED"} state
 * @property {string} claimTime
 * @property {string} deadTime
 * @property {string} [closeTime]
 */

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, params, signal, title } = context;
  title(t("死信", "Dead letters"));
  const state = params.state ?? "open";
  const list = listing(context, {
    size: 20,
    load: async (current) => {
      const { data, total } = await read("/ops/dead-letters", { query: { state, current }, signal });
      return { rows: data, total };
    },
    draw: (rows, reload) => table(t("死信", "Dead letters"), columns(reload), rows),
    none: () => emptyState("check", state === "open"
      ? t("没有待处理的死信：每次抢购都成了订单。", "Nothing pending: every claim became an order.") : t("没有符合条件的死信。", "No dead letters found.")),
  });
  root.append(heading(t("死信", "Dead letters"),
    choice(t("状态", "State"), [
      { value: "open", text: t("待处理", "Pending") }, { value: "replayed", text: t("已重试", "Replayed") },
      { value: "voided", text: t("已作废", "Voided") }, { value: "all", text: t("全部", "All") },
    ], state, (chosen) => go(withQuery({ state: chosen === "open" ? "" : chosen, current: "" })))),
  h("p", { class: "quiet intro" }, t("抢购成功但未能写成订单的记录在这里等待处理：重试，或作废并归还名额。",
    "Accepted claims that could not become orders: replay them, or void them to return the unit to the stock.")),
  list.root);
}

/**
 * @param {() => unknown} onChange
 * @returns {import("../pieces/table.js").Column<DeadLetter>[]}
 */
function columns(onChange) {
  return [
    { title: t("订单", "Order"), cell: ({ order }) => h("span", { class: "mono" }, order) },
    { title: t("原因", "Reason"), look: "wide", cell: ({ reason, detail }) => [h("strong", null, reasonText(reason)), h("span", { class: "small quiet detail" }, detail)] },
    { title: t("秒杀", "Sale"), cell: ({ voucherId, title }) => h("a", { href: `#/sale/${voucherId}` }, title) },
    { title: t("买家", "Buyer"), cell: buyer },
    { title: t("占用名额", "Holds a unit"), cell: ({ holdsUnit }) => (holdsUnit ? chip(t("占用", "Yes"), "sale") : t("没有", "No")) },
    { title: t("次数", "Attempts"), look: "number", cell: ({ attempts }) => attempts },
    { title: t("抢购", "Claimed"), cell: ({ claimTime }) => timestamp(claimTime) },
    { title: t("处理", "Resolve"), look: "acts", cell: (letter) => actionButtons(letter, onChange) },
  ];
}

/**
 * @param {DeadLetter} letter
 * @param {() => unknown} onChange
 */
function actionButtons({ order, userId, state, closeTime }, onChange) {
  if (state !== "OPEN") {
    return h("span", { class: "quiet small" }, state === "REPLAYED" ? t("已重试 ", "Replayed ") : t("已作废 ", "Voided "), timestamp(closeTime));
  }
  const resolve = async (/** @type {string} */ decision, /** @type {string} */ done) => {
    // In rare cases several users' claims share an id.
    await call("POST", `/ops/dead-letters/${order}/${decision}`, { query: { user: userId } });
    showToast(done);
    refreshPendingCounts().catch(() => {});
    await onChange();
  };
  return [
    button(t("重试", "Replay"), () => resolve("replay", t("已成为订单", "Order created"))),
    button(t("作废", "Void"), async () => {
      const isConfirmed = await confirmAction(t("作废这封死信？", "Void this dead letter?"),
        t("这次抢购不会成为订单，占用的名额归还库存。", "The claim will not become an order; a held unit returns to the stock."), t("作废", "Void it"), { danger: true });
      if (isConfirmed) await resolve("void", t("已作废", "Voided"));
    }, { look: ["danger"] }),
  ];
}

/** @param {string} reason */
function reasonText(reason) {
  switch (reason) {
    case "OVERSOLD": return t("超出库存", "Oversold");
    case "DOUBLE": return t("同一人已有订单", "Buyer already has an order");
    case "ID_CLASH": return t("编号冲突", "Order number taken");
    case "REFUSED": return t("多次写入失败", "Repeated write failures");
    default: return reason;
  }
}
