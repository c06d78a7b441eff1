// The user's level: the table of levels, and the ledger of credits.

import { get } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chip } from "../../parts/chip.js";
import { formatDateTime } from "../../parts/date-time.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { infiniteList } from "../../parts/infinite-list.js";
import { screenHeader } from "../../parts/screen-header.js";
import { skeletons } from "../../parts/skeleton.js";
import { redirectIfUnauthorized, requireLoginThroughout } from "../login-guard.js";
import { levelCard } from "../people/level-card.js";

/** @typedef {import("../people/level-card.js").OwnLevel} OwnLevel */

/**
 * An item of `GET /user/credits`.
 * @typedef {object} CreditLine
 * @property {number} number
 * @property {"imported" | "signIn" | "order" | "refund"} cause
 * @property {string} [date] day of a sign-in
 * @property {string} [orderId]
 * @property {number} amount negative if taken back
 * @property {number} credits after the line
 * @property {string} time
 */

/** Lines per response of the server. */
const PAGE = 20;

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title, restoreScroll }) {
  const name = t("会员等级", "Membership level");
  title(name);
  if (!requireLoginThroughout(signal)) return;
  const top = h("div", { class: "stack" }, skeletons(1, "6.5rem"), skeletons(1, "13rem"));
  const list = infiniteList({
    name: "credits", look: "card credits", height: "3.5rem", signal, key: (/** @type {CreditLine} */ line) => line.number,
    load: async (/** @type {number | undefined} */ before) => {
      /** @type {CreditLine[]} */
      const items = await get("/user/credits", { query: { before }, signal });
      return { items, next: items.length < PAGE ? undefined : items.at(-1)?.number };
    },
    draw: creditRow,
    none: () => emptyState("calendar", t("还没有积分。签到和购物都能得积分。", "No credits yet. Check-ins and purchases earn credits.")),
  });
  root.append(h("div", { class: "narrow stack" }, screenHeader(name, { home: "/me" }), top,
    h("h2", null, t("积分记录", "Credits")), list.root));
  await refresh();
  restoreScroll();

  async function refresh() {
    try {
      await staleWhileRevalidate("level", () => get("/user/level", { signal }), render);
    } catch (error) {
      if (!signal.aborted && !redirectIfUnauthorized(error)) fill(top, errorState(error, refresh));
    }
  }

  /** @param {OwnLevel} own */
  function render(own) {
    fill(top, levelCard(own), levelTable(own));
  }
}

/** @param {OwnLevel} own */
function levelTable({ level: current, levels }) {
  return h("section", { class: "card pad stack", "aria-label": t("等级表", "Table of levels") },
    h("ul", { class: "levels" }, levels.map(({ level, credits }) => h("li", { class: "row apart", "aria-current": level === current && "true" },
      h("span", { class: "row tight" }, t(`${level} 级`, `Level ${level}`), level === current && chip(t("当前", "Yours"), "accent")),
      h("span", { class: "number quiet" }, t(`${credits} 积分`, `${credits} credits`))))),
    h("p", { class: "small quiet" }, t("每天签到得 5 积分；付款或用券后，每满 1 元得 1 积分，退款时收回。补签没有积分。",
      "5 credits for each daily check-in. Paid or used orders earn 1 credit per yuan; refunds take them back. Made-up days earn none.")));
}

/** @param {CreditLine} line */
function creditRow({ cause, date, orderId, amount, credits, time }) {
  const text = h("span", { class: "stack tight grow" }, h("strong", null, causeText(cause)),
    h("span", { class: "small quiet" }, cause === "signIn" && date ? date : formatDateTime(time)));
  const amounts = h("span", { class: "credit-amounts number" },
    h("strong", { class: amount < 0 ? "taken" : "earned" }, amount < 0 ? `−${-amount}` : `+${amount}`),
    h("span", { class: "small quiet" }, t(`共 ${credits}`, `Total ${credits}`)));
  return orderId ? h("a", { class: "row credit", href: `#/order/${orderId}` }, text, amounts) : h("div", { class: "row credit" }, text, amounts);
}

/** @param {CreditLine["cause"]} cause */
function causeText(cause) {
  switch (cause) {
    case "signIn": return t("每日签到", "Daily check-in");
    case "order": return t("订单", "Order");
    case "refund": return t("退款收回", "Refund");
    default: return t("原有积分", "Credits brought along");
  }
}
