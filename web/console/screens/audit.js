// The audit log of operators' actions, newest first, with verification of the hash chain.

import { call, get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { infiniteList } from "../../parts/infinite-list.js";
import { icon } from "../../parts/icons.js";
import { timestamp } from "../pieces/timestamp.js";
import { heading } from "../pieces/heading.js";

/**
 * @typedef {{number: number, time: string, userId?: number, staffName?: string, action: string, subject: string,
 * detail: unknown, hash: string}} Entry `userId` is missing for actions from the command line
 */

const PAGE_SIZE = 50;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title }) {
  title(t("审计日志", "Audit log"));
  const verdict = h("div", { role: "status" });
  const list = infiniteList({
    name: "console audit", signal, look: "audit", height: "2.75rem", key: ({ number }) => number, draw: entryItem,
    none: () => emptyState("lock", t("还没有记录。", "No entries yet.")),
    load: async (/** @type {number | undefined} */ before) => {
      /** @type {Entry[]} */
      const items = await get("/ops/audit", { query: { before, max: PAGE_SIZE }, signal });
      return { items, next: items.length < PAGE_SIZE ? undefined : items[items.length - 1].number };
    },
  });
  root.append(
    heading(t("审计日志", "Audit log"), button(t("核对整条链", "Verify the chain"), verify, { icon: "lock" })),
    h("p", { class: "quiet intro" }, t("管理员的每项操作都记录在这里，每条记录包含上一条的指纹：修改或删除任何一条都会被发现。",
      "All actions of operators. Each entry contains the hash of the previous one, so changes and deletions are detected.")),
    verdict, list.root);

  async function verify() {
    fill(verdict);
    const { inOrder, entries, head, fault } = (await call("GET", "/ops/audit/verify", { signal, timeoutMs: 60_000 })).data;
    fill(verdict, inOrder
      ? h("p", { class: "notice good" }, icon("check"), h("span", null, t(`完整：${entries} 条，从第一条连到最后一条。最后的指纹：`, `Intact: ${entries} entries, chained from first to last. Last hash: `),
        h("code", { class: "mono hash" }, head)))
      : h("p", { class: "notice bad" }, icon("warn"), t(`从第 ${fault.number} 条起不完整：${fault.text}`, `Broken from entry ${fault.number} on: ${fault.text}`)));
  }
}

/** @param {Entry} entry */
function entryItem({ number, time, userId, staffName, action, subject, detail, hash }) {
  const user = userId === undefined ? t("命令行", "command line") : t(`用户 ${userId}`, `user ${userId}`);
  const details = detail === null ? "" : JSON.stringify(detail);
  return h("details", { class: "entry" },
    h("summary", null,
      h("span", { class: "quiet number" }, number), timestamp(time),
      h("span", { class: "mono entry-action" }, action), h("span", null, subject),
      h("span", { class: "quiet" }, staffName === undefined ? user : t(`店员 ${staffName}`, `staff ${staffName}`)),
      h("span", { class: "mono quiet cut entry-detail" }, details)),
    h("dl", { class: "stack tight" },
      details && [h("dt", { class: "small quiet" }, t("详情", "Detail")), h("dd", null, h("pre", { class: "command" }, JSON.stringify(detail, null, 2)))],
      h("dt", { class: "small quiet" }, t("指纹", "Hash")), h("dd", { class: "mono hash" }, hash),
      userId !== undefined && staffName === undefined && h("dd", null, h("a", { class: "link", href: `#/users?id=${userId}` }, t("是谁", "View user")))));
}
