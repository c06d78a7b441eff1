// The retry queue: numbers per kind, and the tasks that failed for good, to be replayed or discarded.

import { call, get } from "../../core/api.js";
import { fill, h, repeatWhileVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { emptyState } from "../../parts/empty-state.js";
import { infiniteList } from "../../parts/infinite-list.js";
import { confirmAction } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { heading } from "../pieces/heading.js";
import { table } from "../pieces/table.js";
import { timestamp } from "../pieces/timestamp.js";

/**
 * @typedef {object} Kind
 * @property {string} kind
 * @property {number} open
 * @property {number} openBytes
 * @property {number} failed
 * @property {string} [oldestTime]
 * @property {{name: string, state: "OPEN" | "HALF_OPEN"}[]} breakers
 */

/**
 * @typedef {object} FailedTask
 * @property {number} id
 * @property {string} kind
 * @property {string} key
 * @property {string} segment
 * @property {number} attempts
 * @property {string} error
 * @property {string} createTime
 * @property {string} failTime
 * @property {string} cursor
 */

/** Tasks per response of the server. */
const PAGE_SIZE = 50;
const REFRESH_MS = 5_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title }) {
  const name = t("重试任务", "Retries");
  title(name);
  const kinds = h("div", { class: "listing" });
  let shown = "";
  const list = infiniteList({
    name: "console retries", signal, look: "audit", height: "4rem", key: (/** @type {FailedTask} */ { id }) => id, draw: (task) => failedRow(task, resolve),
    none: () => emptyState("check", t("没有最终失败的任务。", "No task has failed for good.")),
    load: async (/** @type {string | undefined} */ after) => {
      /** @type {{kinds: Kind[], failed: FailedTask[]}} */
      const found = await get("/ops/retries", { query: { after }, signal });
      showKinds(found.kinds);
      const last = found.failed.at(-1);
      return { items: found.failed, next: found.failed.length < PAGE_SIZE || !last ? undefined : last.cursor };
    },
  });
  /**
   * @param {FailedTask} task
   * @param {"replay" | "discard"} decision
   * @param {string} done
   */
  async function resolve({ id }, decision, done) {
    await call("POST", `/ops/retries/${id}/${decision}`);
    showToast(done);
    list.drop(id);
    await list.refresh();
  }
  /** @param {Kind[]} found */
  function showKinds(found) {
    const said = JSON.stringify(found);
    if (said === shown) return;
    shown = said;
    fill(kinds, table(t("任务种类", "Kinds of tasks"), columns(), found));
  }
  root.append(heading(name),
    h("p", { class: "quiet intro" }, t("失败的工作会自动重试；重试完仍失败的在这里等待处理：从失败的步骤起再试，或放弃。",
      "Failed work is retried automatically. Tasks that failed for good wait here: replay them at the segment that failed, or discard them.")),
    kinds, h("h2", { class: "retry-heading" }, t("最终失败", "Failed for good")), list.root);
  repeatWhileVisible(REFRESH_MS, signal, () => list.refresh().catch(() => {}));
}

/** @returns {import("../pieces/table.js").Column<Kind>[]} */
function columns() {
  return [
    { title: t("种类", "Kind"), cell: ({ kind }) => kindText(kind) },
    { title: t("待完成", "Open"), look: "number", cell: ({ open: count }) => count },
    { title: t("最终失败", "Failed"), look: "number", cell: ({ failed }) => failed },
    { title: t("最早的待完成", "Oldest open"), cell: ({ oldestTime }) => (oldestTime === undefined ? t("没有", "None") : timestamp(oldestTime)) },
    { title: t("熔断器", "Breakers"), cell: ({ breakers }) => (breakers.length === 0 ? t("全部闭合", "All closed") : breakers.map(breakerChip)) },
  ];
}

/** @param {Kind["breakers"][number]} breaker */
function breakerChip({ name, state }) {
  return chip(state === "OPEN" ? t(`断开：${name}`, `open: ${name}`) : t(`试探：${name}`, `probing: ${name}`), "sale");
}

/**
 * @param {FailedTask} task
 * @param {(task: FailedTask, decision: "replay" | "discard", done: string) => Promise<void>} resolve
 */
function failedRow(task, resolve) {
  return h("div", { class: "entry retry-task" },
    timestamp(task.failTime),
    h("span", null, h("strong", null, kindText(task.kind)), " ", h("span", { class: "mono" }, task.key)),
    h("span", { class: "small quiet detail" }, t(`${segmentText(task.segment)}，${task.attempts} 次：${task.error}`, `${segmentText(task.segment)}, ${task.attempts} attempts: ${task.error}`)),
    h("span", { class: "row" },
      button(t("重试", "Replay"), () => resolve(task, "replay", t("已重新排队", "Queued again"))),
      button(t("放弃", "Discard"), async () => {
        const isConfirmed = await confirmAction(t("放弃这个任务？", "Discard this task?"),
          t("任务会被删除，不再重试。", "The task is deleted and not retried any more."), t("放弃", "Discard it"), { danger: true });
        if (isConfirmed) await resolve(task, "discard", t("已放弃", "Discarded"));
      }, { look: ["danger"] })));
}

/** @param {string} kind */
function kindText(kind) {
  switch (kind) {
    case "refund": return t("退款", "Refund");
    case "event-webhook": return t("事件推送", "Webhook");
    default: return kind;
  }
}

/** @param {string} segment */
function segmentText(segment) {
  switch (segment) {
    case "refund at the gateway": return t("网关退款", "refund at the gateway");
    case "finish the refund": return t("完成退款", "finish the refund");
    case "post": return t("发送请求", "send the request");
    default: return segment;
  }
}
