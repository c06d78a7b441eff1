// Navigation of the console: areas, health of the server, user and logout.

import { hasToken } from "../core/api.js";
import { isDemo } from "../core/demo.js";
import { fill, h } from "../core/dom.js";
import { t } from "../core/language.js";
import { isKiosk } from "../core/local-storage.js";
import { cachedMe, logOut } from "../core/session.js";
import { icon } from "../parts/icons.js";
import { openSheet } from "../parts/sheet.js";
import { skipLink } from "../parts/skip-link.js";
import { languageSwitch } from "../parts/language-switch.js";
import { metricsStreamState, latestMetrics } from "./live-metrics.js";
import { cachedAccess } from "./access.js";
import { leaveCounter, onDuty } from "./counter/session.js";
import { clearFormDrafts } from "./pieces/form-draft.js";
import { pendingCounts } from "./pending-counts.js";

/**
 * @typedef {{to: string, begins: string, also?: string[], icon: import("../parts/icons.js").IconName, zh: string, en: string,
 * waits?: "deadLetters" | "reports", isOff?: () => boolean}} Area `waits`: the pending items counted in the badge
 */

/** The areas of staff, at a kiosk. @type {Area[]} */
const COUNTER_AREAS = [
  { to: "/sell", begins: "/sell", icon: "ticket", zh: "售券", en: "Sell" },
  { to: "/redeem", begins: "/redeem", icon: "scan", zh: "核销", en: "Redeem" },
  { to: "/today", begins: "/today", also: ["/order"], icon: "order", zh: "今天", en: "Today" },
  { to: "/cash", begins: "/cash", icon: "cash", zh: "收银", en: "Cash" },
  { to: "/log-in-code", begins: "/log-in-code", icon: "people", zh: "登录码", en: "Login code", isOff: () => !onDuty()?.counterCodes },
];

/** @type {Area[]} */
const OPERATOR_AREAS = [
  { to: "/live", begins: "/live", icon: "chart", zh: "实时", en: "Live" },
  { to: "/sales", begins: "/sale", icon: "bolt", zh: "秒杀", en: "Sales" },
  { to: "/orders", begins: "/order", icon: "order", zh: "订单", en: "Orders" },
  { to: "/redeem", begins: "/redeem", icon: "scan", zh: "核销", en: "Redeem" },
  { to: "/cash", begins: "/cash", icon: "cash", zh: "收银", en: "Cash" },
  { to: "/letters", begins: "/letters", icon: "warn", zh: "死信", en: "Dead letters", waits: "deadLetters" },
  { to: "/retries", begins: "/retries", icon: "clock", zh: "重试任务", en: "Retries" },
  { to: "/reports", begins: "/reports", icon: "flag", zh: "举报", en: "Reports", waits: "reports" },
  { to: "/reviews", begins: "/reviews", also: ["/votes"], icon: "star", zh: "评价", en: "Reviews" },
  { to: "/shops", begins: "/shop", icon: "shop", zh: "店铺", en: "Shops" },
  { to: "/users", begins: "/users", icon: "people", zh: "用户", en: "Users" },
  { to: "/security", begins: "/security", also: ["/judgement", "/kiosks", "/staff", "/claim-gateways"], icon: "shield", zh: "安全", en: "Security" },
  { to: "/events", begins: "/events", icon: "list", zh: "事件", en: "Events" },
  { to: "/audit", begins: "/audit", icon: "lock", zh: "审计", en: "Audit log" },
];
const ALL_AREAS = isKiosk ? COUNTER_AREAS : OPERATOR_AREAS;
/** Number of areas in the tab bar of a phone; the others are behind "More". */
const PHONE_TABS = 4;

function shownAreas() {
  return ALL_AREAS.filter(({ isOff }) => !isOff?.());
}

/**
 * @param {HTMLElement} rail
 * @param {string} path of the current screen
 */
export function renderFrame(rail, path) {
  // A logged-in user is shown the areas until the role is known.
  const isInside = ["operator", "staff"].includes(cachedAccess() ?? (hasToken() ? "operator" : "nobody"));
  const focusable = () => /** @type {HTMLElement[]} */ ([...rail.querySelectorAll("a, button")]);
  // Keeps the keyboard focus when the language changes.
  const focused = focusable().indexOf(/** @type {HTMLElement} */ (document.activeElement));
  rail.setAttribute("aria-label", t("管理台", "Console"));
  document.body.classList.toggle("outside", !isInside);
  const areas = shownAreas();
  const currentArea = areas.find((area) => (path === "/" ? areas[0].to : path).startsWith(area.begins) || area.also?.includes(path));
  fill(rail, skipLink(),
    h("a", { class: "brand", href: `#${areas[0].to}`, "aria-label": "mallbox" }, icon("shop"), h("span", null, "mallbox")),
    isInside && areas.map((area, index) => areaLink(area, area === currentArea, index)),
    isInside && moreButton(currentArea !== undefined && areas.indexOf(currentArea) >= PHONE_TABS),
    h("div", { class: "rail-foot" },
      h("p", { class: "pulse small", role: "status" }),
      isInside && userName(),
      h("div", { class: "row wrap" }, isInside && accountLink(), !isKiosk && [manualLink(), ladderLink()], languageSwitch(), isInside && logOutButton())));
  updateHealth(rail);
  updateBadges(rail);
  if (focused >= 0) focusable()[focused]?.focus();
}

/**
 * Updates the health indicator if the health changed.
 * @param {HTMLElement} rail
 */
export function updateHealth(rail) {
  const place = rail.querySelector(".pulse");
  if (!place) return;
  const [className, text] = health();
  if (place.textContent === text) return;
  place.className = `pulse small ${className}`;
  fill(place, text && h("span", { class: "dot", "aria-hidden": "true" }), text);
}

/** @returns {[string, string]} */
function health() {
  const metrics = latestMetrics();
  if (metricsStreamState() === "lost") return ["bad", t("数据中断，重连中", "Disconnected; reconnecting")];
  if (!metrics) return ["", ""];
  return metrics.ready ? ["good", t("运行正常", "Healthy")] : ["bad", t("有故障", "Unhealthy")];
}

/**
 * @param {Area} area
 * @param {boolean} isCurrent
 * @param {number} index
 */
function areaLink(area, isCurrent, index) {
  return h("a", { class: index < PHONE_TABS ? "tab" : "tab later", href: `#${area.to}`, "aria-current": isCurrent && "page" },
    icon(area.icon), h("span", null, t(area.zh, area.en)), area.waits && badge(area.waits));
}

/**
 * @param {string} waits name of a count, or `all`
 * @param {string} [className]
 */
function badge(waits, className = "") {
  return h("span", { class: `badge ${className}`, "data-waits": waits, hidden: true });
}

/**
 * Updates the badges of pending items.
 * @param {HTMLElement} place
 */
export function updateBadges(place) {
  const now = pendingCounts();
  const total = (now?.deadLetters ?? 0) + (now?.reports ?? 0);
  for (const badgeElement of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[data-waits]"))) {
    const waits = /** @type {"deadLetters" | "reports" | "all"} */ (badgeElement.dataset.waits);
    const count = waits === "all" ? total : now?.[waits] ?? 0;
    badgeElement.hidden = count === 0;
    fill(badgeElement, h("span", { class: waits === "all" ? "unseen" : "" }, count), h("span", { class: "unseen" }, t(" 项待处理", " pending")));
  }
}

/** @param {boolean} isCurrent whether the current area is behind the button */
function moreButton(isCurrent) {
  return h("button", { class: "tab more", type: "button", "aria-haspopup": "dialog", "aria-current": isCurrent && "true", onclick: showMore },
    icon("list"), h("span", null, t("更多", "More")), badge("all", "dotted"));
}

function showMore() {
  openSheet(t("更多", "More"), (close) => {
    const areas = h("ul", { class: "more-areas" }, shownAreas().slice(PHONE_TABS).map((area) => h("li", null,
      h("a", { class: "button wide", href: `#${area.to}`, onclick: close }, icon(area.icon), t(area.zh, area.en), area.waits && badge(area.waits)))));
    updateBadges(areas);
    return [areas, h("div", { class: "row wrap apart" }, accountLink(close), !isKiosk && [manualLink(), ladderLink()], languageSwitch(close), logOutButton(close))];
  });
}

function userName() {
  const name = onDuty()?.name ?? cachedMe()?.nickName;
  return name && h("p", { class: "small quiet cut rail-me" }, name);
}

/** @param {() => void} [before] called before the screen opens */
function accountLink(before) {
  return !isKiosk && h("a", { class: "link small", href: "#/account", onclick: before }, t("账号安全", "My account"));
}

function manualLink() {
  return h("a", { class: "link small", href: "/mall/manual/" }, t("手册", "Manual"));
}

/** Returns the link of a demo to the manual's page about `mallbox learn`, which a mall never serves. */
function ladderLink() {
  const link = h("a", { class: "link small", href: "/mall/manual/ladder", hidden: true }, t("谁在超卖？", "Who oversells?"));
  void isDemo().then((isInDemo) => (link.hidden = !isInDemo));
  return link;
}

/** @param {() => void} [before] called before the logout */
function logOutButton(before) {
  return h("button", { class: "link small", type: "button", onclick: () => {
    before?.();
    if (isKiosk) {
      leaveCounter();
    } else {
      clearFormDrafts();
      logOut();
    }
  } }, t("退出登录", "Log out"));
}
