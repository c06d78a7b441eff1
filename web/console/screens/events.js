// Subscribers of events: programs outside that learn what happens in the mall.

import { call, get } from "../../core/api.js";
import { fill, h, repeatWhileVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button, linkButton } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { emptyState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { confirmAction, openSheet } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { form } from "../pieces/form.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { table } from "../pieces/table.js";
import { timestamp } from "../pieces/timestamp.js";

/**
 * An item of `GET /ops/events/subscribers`.
 * @typedef {object} Subscriber
 * @property {number} id
 * @property {string} name
 * @property {"log" | "webhook" | "stream"} target
 * @property {string[]} kinds all if empty
 * @property {number} cursor
 * @property {number} lag
 * @property {boolean} paused
 * @property {number} lost
 * @property {string} [error]
 * @property {string} [errorTime]
 * @property {string} createTime
 */

/** Kinds of events, as the manual lists them. */
const KINDS = ["order.accepted", "order.payment_due", "order.paid", "order.cancelled", "order.used", "order.refunded", "note.published", "review.written", "stock.changed", "waiting.promoted"];
/** All subscribers fit on one page. */
const MOST = 1_000;
const REFRESH_MS = 5_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, signal, title } = context;
  title(t("事件订阅", "Event subscribers"));
  const state = h("p", { class: "quiet number intro" });
  let hasStreams = false;
  let shown = "";
  const list = listing(context, {
    size: MOST,
    load: async () => {
      const data = await read();
      shown = JSON.stringify(data);
      hasStreams = data.hasStreams;
      fill(state, data.head === 0 ? t("还没有事件", "No events yet") : t(`最新事件：第 ${data.head} 个`, `Newest event: ${data.head}`));
      return { rows: data.subscribers, total: data.subscribers.length };
    },
    draw: (rows, reload) => table(t("事件订阅", "Event subscribers"), columns(reload), rows),
    none: () => emptyState("list", t("还没有订阅，商城不写入事件。", "No subscribers: the mall writes no events.")),
  });
  root.append(
    heading(t("事件订阅", "Event subscribers"), h("div", { class: "row wrap" },
      button(t("新增订阅", "New subscriber"), () => create(hasStreams, list.reload), { icon: "plus", look: ["main"] }),
      linkButton(t("重试任务", "Retries"), "#/retries", { icon: "clock" }))),
    h("p", { class: "quiet intro" }, t("订单、笔记、评价和库存的变动通知外部程序，至少送达一次，同一笔订单按先后顺序。",
      "Programs outside learn of changes of orders, notes, reviews and stock: at least once, and in order per order.")),
    state, list.root);
  repeatWhileVisible(REFRESH_MS, signal, () => refresh().catch(() => {}));

  function read() {
    return get("/ops/events/subscribers", { signal });
  }

  async function refresh() {
    if (JSON.stringify(await read()) !== shown) await list.reload();
  }
}

/**
 * @param {() => Promise<void>} reload
 * @returns {import("../pieces/table.js").Column<Subscriber>[]}
 */
function columns(reload) {
  return [
    { title: t("名称", "Name"), look: "wide", cell: ({ name, target, kinds }) => h("span", { class: "stack tight" },
      h("strong", null, name), h("span", { class: "small quiet" }, targetText(target)),
      h("span", { class: "small quiet" }, kinds.length ? kinds.join(" ") : t("全部事件", "all events"))) },
    { title: t("状态", "State"), cell: stateCell },
    { title: t("位置", "Cursor"), look: "number", cell: ({ target, cursor }) => target === "log" ? "–" : cursor },
    { title: t("落后", "Lag"), look: "number", cell: ({ target, lag }) => target === "log" ? "–" : lag },
    { title: t("创建时间", "Created"), cell: ({ createTime }) => timestamp(createTime) },
    { title: t("操作", "Actions"), look: "acts", cell: (subscriber) => [
      button(subscriber.paused ? t("恢复", "Resume") : t("暂停", "Pause"), () => pause(subscriber, reload), { icon: subscriber.paused ? "play" : "pause" }),
      button(t("删除", "Delete"), () => remove(subscriber, reload), { icon: "trash", look: ["danger"] })] },
  ];
}

/** @param {Subscriber["target"]} target */
function targetText(target) {
  switch (target) {
    case "webhook": return t("HTTP请求（webhook）", "HTTP requests (webhook)");
    case "stream": return t("Redis流", "Redis stream");
    default: return t("只保留，供读取", "kept for readers");
  }
}

/** @param {Subscriber} subscriber */
function stateCell({ paused, lost, error, errorTime }) {
  return h("span", { class: "stack tight" },
    paused ? chip(t("已暂停", "Paused")) : error ? chip(t("受阻", "Held up"), "bad") : chip(t("正常", "Running"), "good"),
    error && h("span", { class: "small" }, obstacleText(error)),
    errorTime && h("span", { class: "small quiet" }, timestamp(errorTime)),
    lost > 0 && h("span", { class: "small" }, t(`${lost} 个事件已过期，没有送达`, `${lost} events expired undelivered`)));
}

/**
 * Other errors are those of a store or a server.
 * @param {string} error
 */
function obstacleText(error) {
  switch (error) {
    case "the webhook keeps failing: events wait": return t("接收程序一直失败，事件在等待", "The webhook keeps failing: events wait");
    case "the retry queue is full: events wait": return t("重试队列已满，事件在等待", "The retry queue is full: events wait");
    default: return error;
  }
}

/**
 * @param {boolean} hasStreams
 * @param {() => Promise<void>} reload
 */
function create(hasStreams, reload) {
  const name = field(t("名称（字母、数字和 - _ .）", "Name: letters, digits and - _ ."), "input", { maxlength: 40, required: true, spellcheck: "false", autocapitalize: "none" });
  const url = field(t("接收地址（https://…）", "URL (https://…)"), "input", { type: "url", maxlength: 2048, required: true });
  const target = field(t("送往", "Target"), "select", { onchange: showUrl },
    h("option", { value: "webhook" }, targetText("webhook")),
    hasStreams && h("option", { value: "stream" }, targetText("stream")),
    h("option", { value: "log" }, targetText("log")));
  const boxes = KINDS.map((kind) => h("input", { type: "checkbox", value: kind }));
  const kinds = h("fieldset", { class: "stack tight" }, h("legend", null, t("只要这些事件（不选则全部）", "Only these events (none checked: all)")),
    boxes.map((box) => h("label", { class: "row" }, box, h("span", { class: "mono" }, box.value))));
  const fields = [
    { field: name, names: ["名称", "Name", "subscriberName"] },
    { field: target, names: ["目标", "target"] },
    { field: url, names: ["接收地址", "URL", "url"] },
  ];
  return openSheet(t("新增事件订阅", "New subscriber"), (close) => [form(fields, t("创建", "Create"), async () => {
    const body = { name: name.input.value.trim(), target: target.input.value, url: url.input.disabled ? undefined : url.input.value.trim(), kinds: boxes.filter((box) => box.checked).map((box) => box.value) };
    const { data } = await call("POST", "/ops/events/subscribers", { body });
    close();
    await reload();
    if (data.secret) showSecret(data.secret);
    else showToast(t("订阅已创建", "Subscriber created"));
  }, { inside: [name.root, target.root, url.root, kinds], cancel: close })]);

  function showUrl() {
    url.input.disabled = target.input.value !== "webhook";
    url.root.hidden = url.input.disabled;
  }
}

/**
 * Shows the key of the signature, which nobody can read again.
 * @param {string} secret
 */
function showSecret(secret) {
  return openSheet(t("签名密钥", "Key of the signature"), (close) => [h("div", { class: "stack" },
    h("p", null, t("请立即保存到接收程序中，之后无法再次查看。", "Store it in the receiving program now: nobody can read it again.")),
    h("p", { class: "mono hash" }, secret),
    button(t("已保存", "Stored"), close, { look: ["main"] }))]);
}

/**
 * @param {Subscriber} subscriber
 * @param {() => Promise<void>} reload
 */
async function pause({ id, paused }, reload) {
  await call("POST", `/ops/events/subscribers/${id}/${paused ? "resume" : "pause"}`);
  await reload();
}

/**
 * @param {Subscriber} subscriber
 * @param {() => Promise<void>} reload
 */
async function remove({ id, name }, reload) {
  const isConfirmed = await confirmAction(t(`删除订阅“${name}”？`, `Delete subscriber ${name}?`),
    t("尚未送达的事件不再发送，无法恢复。", "Events not delivered yet are not sent any more. This cannot be undone."), t("删除", "Delete"), { danger: true });
  if (!isConfirmed) return;
  await call("DELETE", `/ops/events/subscribers/${id}`);
  showToast(t("订阅已删除", "Subscriber deleted"));
  await reload();
}
