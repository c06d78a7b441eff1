// What stands around the console's screens: a rail of its areas, below on a phone; how the mall is; who is here.

import { hasToken } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { t } from "../core/language.js";
import { cachedMe, logOut } from "../core/session.js";
import { icon } from "../parts/icons.js";
import { openSheet } from "../parts/sheet.js";
import { skipLink } from "../parts/skip-link.js";
import { languageSwitch } from "../parts/language-switch.js";
import { isHearing, latest } from "./figures.js";
import { knownStanding } from "./standing.js";
import { forgetTyped } from "./pieces/typed.js";
import { waiting } from "./waiting.js";

/**
 * @typedef {{to: string, begins: string, icon: import("../parts/icons.js").IconName, zh: string, en: string,
 * waits?: "deadLetters" | "reports"}} Area `waits`: what of it waits for an operator */

/** @type {Area[]} */
const AREAS = [
  { to: "/live", begins: "/live", icon: "chart", zh: "实时", en: "Live" },
  { to: "/sales", begins: "/sale", icon: "bolt", zh: "秒杀", en: "Sales" },
  { to: "/orders", begins: "/order", icon: "order", zh: "订单", en: "Orders" },
  { to: "/redeem", begins: "/redeem", icon: "scan", zh: "核销", en: "Redeem" },
  { to: "/letters", begins: "/letters", icon: "warn", zh: "死信", en: "Dead letters", waits: "deadLetters" },
  { to: "/reports", begins: "/reports", icon: "flag", zh: "举报", en: "Reports", waits: "reports" },
  { to: "/shops", begins: "/shop", icon: "shop", zh: "店铺", en: "Shops" },
  { to: "/users", begins: "/users", icon: "people", zh: "用户", en: "Users" },
  { to: "/audit", begins: "/audit", icon: "lock", zh: "审计", en: "Audit log" },
];
/** So many stand below a phone's screen; the others are one press away. */
const FIRST = 4;

/**
 * @param {HTMLElement} rail
 * @param {string} path that is shown
 */
export function frame(rail, path) {
  // Whoever is logged in here is taken for one, until the mall has said.
  const isOperator = (knownStanding() ?? (hasToken() ? "operator" : "nobody")) === "operator";
  const pressable = () => /** @type {HTMLElement[]} */ ([...rail.querySelectorAll("a, button")]);
  // Who changes the language by keyboard goes on from where they are.
  const focused = pressable().indexOf(/** @type {HTMLElement} */ (document.activeElement));
  rail.setAttribute("aria-label", t("管理台", "Console"));
  document.body.classList.toggle("outside", !isOperator);
  const here = AREAS.find((area) => (path === "/" ? "/live" : path).startsWith(area.begins));
  fill(rail, skipLink(),
    h("a", { class: "brand", href: "#/live", "aria-label": "mallbox" }, icon("shop"), h("span", null, "mallbox")),
    isOperator && AREAS.map((area, index) => areaLink(area, area === here, index)),
    isOperator && moreButton(here !== undefined && AREAS.indexOf(here) >= FIRST),
    h("div", { class: "rail-foot" },
      h("p", { class: "pulse small", role: "status" }),
      isOperator && me(),
      h("div", { class: "row wrap" }, manual(), languageSwitch(), isOperator && logOutButton())));
  pulse(rail);
  showWaiting(rail);
  if (focused >= 0) pressable()[focused]?.focus();
}

/**
 * Says in the frame whether the mall is well, when that changes.
 * @param {HTMLElement} rail
 */
export function pulse(rail) {
  const place = rail.querySelector(".pulse");
  if (!place) return;
  const [look, text] = wellness();
  if (place.textContent === text) return;
  place.className = `pulse small ${look}`;
  fill(place, text && h("span", { class: "dot", "aria-hidden": "true" }), text);
}

/** @returns {[string, string]} */
function wellness() {
  const now = latest();
  if (isHearing() === "lost") return ["bad", t("数据中断，重连中", "No figures; trying again")];
  if (!now) return ["", ""];
  return now.ready ? ["good", t("运行正常", "All is well")] : ["bad", t("有故障", "In trouble")];
}

/**
 * @param {Area} area
 * @param {boolean} isHere
 * @param {number} index
 */
function areaLink(area, isHere, index) {
  return h("a", { class: index < FIRST ? "tab" : "tab later", href: `#${area.to}`, "aria-current": isHere && "page" },
    icon(area.icon), h("span", null, t(area.zh, area.en)), area.waits && badge(area.waits));
}

/**
 * @param {string} waits of what; of `all`
 * @param {string} [look]
 */
function badge(waits, look = "") {
  return h("span", { class: `badge ${look}`, "data-waits": waits, hidden: true });
}

/**
 * Says how much waits, in the place of each area.
 * @param {HTMLElement} place
 */
export function showWaiting(place) {
  const now = waiting();
  const all = (now?.deadLetters ?? 0) + (now?.reports ?? 0);
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[data-waits]"))) {
    const waits = /** @type {"deadLetters" | "reports" | "all"} */ (one.dataset.waits);
    const count = waits === "all" ? all : now?.[waits] ?? 0;
    one.hidden = count === 0;
    fill(one, h("span", { class: waits === "all" ? "unseen" : "" }, count), h("span", { class: "unseen" }, t(" 项待处理", " waiting")));
  }
}

/** @param {boolean} isHere whether what is shown is behind it */
function moreButton(isHere) {
  return h("button", { class: "tab more", type: "button", "aria-haspopup": "dialog", "aria-current": isHere && "true", onclick: showMore },
    icon("list"), h("span", null, t("更多", "More")), badge("all", "dotted"));
}

function showMore() {
  openSheet(t("更多", "More"), (close) => {
    const areas = h("ul", { class: "more-areas" }, AREAS.slice(FIRST).map((area) => h("li", null,
      h("a", { class: "button wide", href: `#${area.to}`, onclick: close }, icon(area.icon), t(area.zh, area.en), area.waits && badge(area.waits)))));
    showWaiting(areas);
    return [areas, h("div", { class: "row wrap apart" }, manual(), languageSwitch(close), logOutButton(close))];
  });
}

function me() {
  const person = cachedMe();
  return person && h("p", { class: "small quiet cut rail-me" }, person.nickName);
}

function manual() {
  return h("a", { class: "link small", href: "/mall/manual/" }, t("手册", "Manual"));
}

/** @param {() => void} [first] what is done before */
function logOutButton(first) {
  return h("button", { class: "link small", type: "button", onclick: () => {
    first?.();
    forgetTyped();
    logOut();
  } }, t("退出登录", "Log out"));
}
