// Dead letters: claims that did not become orders, and what is to become of them.

import { call, read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { go } from "../../core/router.js";
import { button } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { choice } from "../../parts/choice.js";
import { empty } from "../../parts/empty.js";
import { confirmed } from "../../parts/sheet.js";
import { say } from "../../parts/toast.js";
import { countWaiting } from "../waiting.js";
import { exactly } from "../pieces/exactly.js";
import { heading } from "../pieces/heading.js";
import { listing, withQuery } from "../pieces/listing.js";
import { buyer } from "../pieces/order-columns.js";
import { table } from "../pieces/table.js";

/**
 * As `GET /ops/dead-letters` tells it.
 * @typedef {object} Letter
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

/** @param {import("../../core/router.js").Showing} showing */
export function open(showing) {
  const { root, at, signal, title } = showing;
  title(both("死信", "Dead letters"));
  const state = at.state ?? "open";
  const list = listing(showing, {
    size: 20,
    load: async (current) => {
      const { data, total } = await read("/ops/dead-letters", { query: { state, current }, signal });
      return { rows: data, total };
    },
    draw: (rows, reload) => table(both("死信", "Dead letters"), columns(reload), rows),
    none: () => empty("check", state === "open"
      ? both("没有待处理的死信：每次抢购都成了订单。", "Nothing waits here: every claim became an order.") : both("没有这样的死信。", "No such dead letter.")),
  });
  root.append(heading(both("死信", "Dead letters"),
    choice(both("状态", "State"), [
      { value: "open", text: both("待处理", "Waiting") }, { value: "replayed", text: both("已重试", "Replayed") },
      { value: "voided", text: both("已作废", "Voided") }, { value: "all", text: both("全部", "All") },
    ], state, (chosen) => go(withQuery({ state: chosen === "open" ? "" : chosen, current: "" })))),
  h("p", { class: "quiet intro" }, both("抢购成功、却没能写成订单的，停在这里等您决定：再试一次，或作废并归还名额。",
    "Claims that were accepted and could not be written as orders wait here: try again, or give up and let the unit go back.")),
  list.root);
}

/**
 * @param {() => unknown} changed
 * @returns {import("../pieces/table.js").Column<Letter>[]}
 */
function columns(changed) {
  return [
    { title: both("订单", "Order"), cell: ({ order }) => h("span", { class: "mono" }, order) },
    { title: both("原因", "Reason"), look: "wide", cell: ({ reason, detail }) => [h("strong", null, reasonText(reason)), h("span", { class: "small quiet detail" }, detail)] },
    { title: both("秒杀", "Sale"), cell: ({ voucherId, title }) => h("a", { href: `#/sale/${voucherId}` }, title) },
    { title: both("买家", "Buyer"), cell: buyer },
    { title: both("占用名额", "Holds a unit"), cell: ({ holdsUnit }) => (holdsUnit ? chip(both("占用", "Holds one"), "sale") : both("没有", "No")) },
    { title: both("次数", "Attempts"), look: "number", cell: ({ attempts }) => attempts },
    { title: both("抢购", "Claimed"), cell: ({ claimTime }) => exactly(claimTime) },
    { title: both("处理", "Decide"), look: "acts", cell: (letter) => acts(letter, changed) },
  ];
}

/**
 * @param {Letter} letter
 * @param {() => unknown} changed
 */
function acts({ order, userId, state, closeTime }, changed) {
  if (state !== "OPEN") {
    return h("span", { class: "quiet small" }, state === "REPLAYED" ? both("已重试 ", "Replayed ") : both("已作废 ", "Voided "), exactly(closeTime));
  }
  const decide = async (/** @type {string} */ what, /** @type {string} */ done) => {
    // Several users' claims may have had one id.
    await call("POST", `/ops/dead-letters/${order}/${what}`, { query: { user: userId } });
    say(done);
    countWaiting().catch(() => {});
    await changed();
  };
  return [
    button(both("重试", "Replay"), () => decide("replay", both("已成为订单", "It is an order now"))),
    button(both("作废", "Void"), async () => {
      const isSure = await confirmed(both("作废这封死信？", "Give this one up?"),
        both("它不会再成为订单；占用的名额还给库存。", "It will never be an order; a unit that it holds goes back."), both("作废", "Give it up"), { danger: true });
      if (isSure) await decide("void", both("已作废", "It is given up"));
    }, { look: ["danger"] }),
  ];
}

/** @param {string} reason */
function reasonText(reason) {
  switch (reason) {
    case "OVERSOLD": return both("超出库存", "More than there were");
    case "DOUBLE": return both("同一人已有订单", "Its buyer has an order");
    case "ID_CLASH": return both("编号冲突", "Its number is taken");
    case "REFUSED": return both("多次写入失败", "Refused again and again");
    default: return reason;
  }
}
