// Archived days of the ledger of votes, or the lines of one day.

import { get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { infiniteList } from "../../parts/infinite-list.js";
import { heading } from "../pieces/heading.js";
import { timestamp } from "../pieces/timestamp.js";
import { voteRow } from "../pieces/vote-row.js";

/**
 * An item of `GET /ops/archive/votes`.
 * @typedef {object} ArchivedDay
 * @property {string} day
 * @property {number} lines
 * @property {number} bytes
 * @property {string} sha256
 * @property {string} time
 */

/** Days per response of the server. */
const PAGE_SIZE = 500;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title }) {
  const day = params.day;
  const name = day ? t(`${day} 的“有用”流水`, `Votes of ${day}`) : t("归档的“有用”流水", "Archived votes");
  title(name);
  const list = day ? linesOf(day, signal) : days(signal);
  root.append(heading(name, day ? linkButton(t("全部归档日", "All archived days"), "#/vote-archive", { icon: "list" }) : linkButton(t("近期流水", "Recent votes"), "#/votes", { icon: "list" })),
    h("p", { class: "quiet intro" }, t("一天从 UTC 零点算起，旧的在前。在商城的服务器上用 mallbox archive 归档。", "Days are those of UTC, oldest first. mallbox archive on the mall's machine archives days.")), list.root);
}

/** @param {AbortSignal} signal */
function days(signal) {
  return infiniteList({
    name: "console archived votes", signal, look: "audit", height: "2.75rem", key: (/** @type {ArchivedDay} */ { day }) => day, draw: dayRow,
    none: () => emptyState("list", t("还没有归档。", "Nothing is archived yet.")),
    load: async (/** @type {string | undefined} */ after) => {
      /** @type {ArchivedDay[]} */
      const items = await get("/ops/archive/votes", { query: { after }, signal });
      return { items, next: items.length < PAGE_SIZE ? undefined : items.at(-1)?.day };
    },
  });
}

/**
 * @param {string} day
 * @param {AbortSignal} signal
 */
function linesOf(day, signal) {
  return infiniteList({
    name: `console votes of ${day}`, signal, look: "audit", height: "2.75rem",
    key: (/** @type {import("../pieces/vote-row.js").VoteLine} */ { remarkId, number }) => `${remarkId} ${number}`, draw: voteRow,
    none: () => emptyState("list", t("这一天没有流水。", "No votes on this day.")),
    load: async (/** @type {string | undefined} */ after) => {
      /** @type {{lines: import("../pieces/vote-row.js").VoteLine[], next?: string}} */
      const { lines, next } = await get(`/ops/archive/votes/${day}`, { query: { after }, signal });
      return { items: lines, next };
    },
  });
}

/** @param {ArchivedDay} archived */
function dayRow({ day, lines, bytes, sha256, time }) {
  return h("div", { class: "entry vote-line" },
    h("a", { class: "link", href: `#/vote-archive?day=${day}` }, day),
    h("span", { class: "number" }, t(`${lines} 行`, `${lines} lines`)),
    h("span", { class: "quiet number" }, `${Math.ceil(bytes / 1024)} KiB`),
    h("span", { class: "quiet" }, t("归档于", "archived")), timestamp(time),
    h("span", { class: "mono quiet cut", title: sha256 }, sha256.slice(0, 16)));
}
