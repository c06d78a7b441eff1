// Security events of the process that responds: counts of the last 24 hours, and the recent events.

import { get } from "../../core/api.js";
import { fill, h, repeatWhileVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { emptyState } from "../../parts/empty-state.js";
import { sparkline } from "../../parts/sparkline.js";
import { isRefusedEvent, securityEventText, SECURITY_EVENTS } from "../security-events.js";
import { filters } from "../pieces/filters.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { table } from "../pieces/table.js";
import { timestamp } from "../pieces/timestamp.js";

/**
 * @typedef {import("../security-events.js").EventName} EventName
 * @typedef {{event: EventName, total: number, lastHour: number, lastDay: number, hours: number[]}} Count
 * `hours`: oldest first
 * @typedef {{number: number, time: string, event: EventName, client?: string, userId?: number, subjectId?: number,
 * phoneHash?: string, requestId?: string, method?: string, route?: string, code?: string}} SecurityEvent `client`
 * is missing for the command line
 * @typedef {{since: string, counts: Count[], total: number, events: SecurityEvent[]}} Answer of `GET /ops/security`
 */

const PAGE_SIZE = 50;
const REFRESH_MS = 10_000;
const HOURS = 24;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, params, signal, title } = context;
  title(t("安全", "Security"));
  const since = h("p", { class: "quiet intro" });
  const tiles = countTiles();
  let newest = 0;
  const list = listing(context, {
    size: PAGE_SIZE,
    load: async (current) => {
      const { events, total } = show(await read({ event: params.event, client: params.client, current }));
      return { rows: events, total };
    },
    draw: (rows) => table(t("安全事件", "Security events"), columns(), rows),
    none: () => emptyState("shield", t("没有符合条件的事件。", "No events found.")),
  });
  root.append(
    heading(t("安全", "Security"), h("div", { class: "row wrap" }, linkButton(t("风控规则", "Judgement rules"), "#/judgement", { icon: "gear" }),
      linkButton(t("自助终端", "Kiosks"), "#/kiosks", { icon: "shop" }),
      linkButton(t("店员", "Staff"), "#/staff", { icon: "people" }),
      linkButton(t("抢购网关", "Claim gateways"), "#/claim-gateways", { icon: "lock" }))), since,
    h("div", { class: "tiles security-tiles" }, tiles.map((tile) => tile.root)),
    filters(params, [
      { name: "event", label: t("事件", "Event"), options: [
        { value: "", text: t("全部", "All") }, ...SECURITY_EVENTS.map((event) => ({ value: event, text: securityEventText(event) })),
      ] },
      { name: "client", label: t("客户端地址", "Client address"), attributes: { autocomplete: "off", spellcheck: "false" } },
    ]), list.root);
  repeatWhileVisible(REFRESH_MS, signal, () => refresh().catch(() => {}));

  /**
   * @param {Record<string, string | number | undefined>} query
   * @returns {Promise<Answer>}
   */
  function read(query) {
    return get("/ops/security", { query, signal });
  }

  /** @param {Answer} answer */
  function show(answer) {
    newest = recorded(answer);
    const start = answer.since.replace("T", " ");
    since.textContent = t(`这个进程自 ${start} 启动以来的事件，每种最多列出 200 条；其他进程各有自己的记录。数量总是完整的。`,
      `Events of this process since its start at ${start}, at most 200 listed of each kind; other processes have their own. Counts are complete.`);
    for (const tile of tiles) tile.show(answer.counts);
    return answer;
  }

  async function refresh() {
    const former = newest;
    const answer = await read({ event: params.event, client: params.client });
    show(answer);
    // A page further back would only shift under the reader.
    if (newest !== former && !params.current) await list.reload();
  }
}

/** @param {Answer} answer */
function recorded({ counts }) {
  return counts.reduce((sum, { total }) => sum + total, 0);
}

function countTiles() {
  return [
    countTile(t("登录失败", "Failed log-ins"), [
      { name: t("验证码", "by code"), look: "accent", events: ["login_code_failed"] },
      { name: t("密码", "by password"), look: "sale", events: ["login_password_failed", "password_change_failed"] },
      { name: t("两步验证", "second factor"), look: "good", events: ["second_factor_failed"] },
    ]),
    countTile(t("拒绝的请求", "Refused calls"), [
      { name: t("未登录", "not logged in"), look: "accent", events: ["unauthenticated"] },
      { name: t("没有权限", "no permission"), look: "sale", events: ["forbidden", "cross_site", "wrong_host"] },
      { name: t("格式不符", "malformed"), look: "good", events: ["malformed_request"] },
    ]),
    countTile(t("超过限制", "Above a limit"), [
      { name: t("请求", "calls"), look: "accent", events: ["rate_limited", "code_refused"] },
      { name: t("连接", "connections"), look: "sale", events: ["connection_refused", "connection_refused_in_total"] },
    ]),
    countTile(t("登录与权限", "Log-ins and rights"), [
      { name: t("登录", "log-ins"), look: "good", events: ["login_code_succeeded", "login_password_succeeded"] },
      { name: t("管理员登录", "of operators"), look: "accent", events: ["operator_login"] },
      { name: t("权限变更", "changes"), look: "sale", events: ["role_granted", "role_revoked", "user_blocked", "user_unblocked", "second_factor_enrolled", "second_factor_removed"] },
    ]),
  ];
}

/**
 * A tile with the counts of the last day, and a chart by hour.
 * @param {string} title
 * @param {{name: string, look: import("../../parts/sparkline.js").Line["look"], events: EventName[]}[]} lines
 */
function countTile(title, lines) {
  const numbers = h("dl", { class: "tile-numbers" });
  const chart = sparkline(t(`${title}，过去 24 小时，每小时`, `${title}, last 24 hours, by hour`));
  const foot = h("p", { class: "quiet small cut" });
  const root = h("section", { class: "card tile", "aria-label": title }, h("h2", { class: "small quiet" }, title), numbers, chart.root, foot);
  return {
    root,
    /** @param {Count[]} counts */
    show: (counts) => {
      const perLine = lines.map((line) => ({ ...line, counts: counts.filter(({ event }) => line.events.includes(event)) }));
      fill(numbers, perLine.map(({ name, look, counts: ofLine }) =>
        h("div", null, h("dd", { class: `number ${look}` }, sum(ofLine, ({ lastDay }) => lastDay).toLocaleString()), h("dt", { class: "small quiet" }, name))));
      chart.show(perLine.map(({ name, look, counts: ofLine }) => ({
        name, look, values: Array.from({ length: HOURS }, (_, hour) => sum(ofLine, ({ hours }) => hours[hour])),
      })), HOURS);
      const lastHour = sum(perLine.flatMap(({ counts: ofLine }) => ofLine), (count) => count.lastHour);
      foot.textContent = t(`过去 24 小时；最近一小时 ${lastHour}`, `last 24 hours; last hour: ${lastHour}`);
    },
  };
}

/**
 * @param {Count[]} counts
 * @param {(count: Count) => number} of
 */
function sum(counts, of) {
  return counts.reduce((all, count) => all + of(count), 0);
}

/** @returns {import("../pieces/table.js").Column<SecurityEvent>[]} */
function columns() {
  return [
    { title: t("时间", "Time"), cell: ({ time }) => timestamp(time) },
    { title: t("事件", "Event"), look: "wide", cell: ({ event, code }) => [
      chip(securityEventText(event), isRefusedEvent(event) ? "bad" : "good"), code && h("code", { class: "small quiet detail" }, code)] },
    { title: t("客户端地址", "Client address"), cell: ({ client }) => (client
      ? h("a", { class: "mono", href: `#/security?client=${encodeURIComponent(client)}` }, client) : t("命令行", "command line")) },
    { title: t("用户", "User"), cell: ({ userId, subjectId }) => userLinks(userId, subjectId) },
    { title: t("号码指纹", "Phone hash"), cell: ({ phoneHash }) => (phoneHash ? h("code", { class: "mono" }, phoneHash) : "—") },
    { title: t("请求", "Request"), look: "wide", cell: ({ method, route, requestId }) => [
      method ? h("code", { class: "mono" }, method, " ", route ?? "—") : "—", requestId && h("code", { class: "small quiet detail" }, requestId)] },
  ];
}

/**
 * @param {number | undefined} user the caller
 * @param {number | undefined} subject the user whose rights were changed
 */
function userLinks(user, subject) {
  const link = (/** @type {number} */ id) => h("a", { class: "number", href: `#/users?id=${id}` }, id);
  if (user === undefined && subject === undefined) return "—";
  return [user !== undefined && link(user), subject !== undefined && [" → ", link(subject)]].flat();
}
