// What stands around the console's screens: a rail of its areas, below on a phone; how the mall is; who is here.

import { fill, h } from "../core/dom.js";
import { both, language, speak } from "../core/language.js";
import { knownMe, logOut } from "../core/session.js";
import { icon } from "../parts/icons.js";
import { sheet } from "../parts/sheet.js";
import { isHearing, latest } from "./figures.js";
import { knownStanding } from "./standing.js";

/** @typedef {{to: string, begins: string, icon: import("../parts/icons.js").IconName, zh: string, en: string}} Area */

/** @type {Area[]} */
const AREAS = [
  { to: "/live", begins: "/live", icon: "chart", zh: "实时", en: "Live" },
  { to: "/sales", begins: "/sale", icon: "bolt", zh: "秒杀", en: "Sales" },
  { to: "/orders", begins: "/order", icon: "order", zh: "订单", en: "Orders" },
  { to: "/redeem", begins: "/redeem", icon: "scan", zh: "核销", en: "Redeem" },
  { to: "/letters", begins: "/letters", icon: "warn", zh: "死信", en: "Dead letters" },
  { to: "/reports", begins: "/reports", icon: "flag", zh: "举报", en: "Reports" },
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
  const isOperator = knownStanding() === "operator";
  rail.setAttribute("aria-label", both("管理台", "Console"));
  document.body.classList.toggle("outside", !isOperator);
  const here = AREAS.find((area) => (path === "/" ? "/live" : path).startsWith(area.begins));
  fill(rail,
    h("a", { class: "brand", href: "#/live", "aria-label": "mallbox" }, icon("shop"), h("span", null, "mallbox")),
    isOperator && AREAS.map((area, index) => areaLink(area, area === here, index)),
    isOperator && moreButton(here !== undefined && AREAS.indexOf(here) >= FIRST),
    h("div", { class: "rail-foot" },
      h("p", { class: "pulse small", role: "status" }),
      isOperator && me(),
      h("div", { class: "row wrap" }, tongue(), isOperator && logOutButton())));
  pulse(rail);
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
  if (isHearing() === "lost") return ["bad", both("数据中断，重连中", "No figures; trying again")];
  if (!now) return ["", ""];
  return now.ready ? ["good", both("运行正常", "All is well")] : ["bad", both("有故障", "In trouble")];
}

/**
 * @param {Area} area
 * @param {boolean} isHere
 * @param {number} index
 */
function areaLink(area, isHere, index) {
  return h("a", { class: index < FIRST ? "tab" : "tab later", href: `#${area.to}`, "aria-current": isHere && "page" },
    icon(area.icon), h("span", null, both(area.zh, area.en)));
}

/** @param {boolean} isHere whether what is shown is behind it */
function moreButton(isHere) {
  const open = () => sheet(both("更多", "More"), (close) => [
    h("ul", { class: "more-areas" }, AREAS.slice(FIRST).map((area) =>
      h("li", null, h("a", { class: "button wide", href: `#${area.to}`, onclick: close }, icon(area.icon), both(area.zh, area.en))))),
    h("div", { class: "row apart" }, tongue(), logOutButton()),
  ]);
  return h("button", { class: "tab more", type: "button", "aria-haspopup": "dialog", "aria-current": isHere && "true", onclick: open },
    icon("list"), h("span", null, both("更多", "More")));
}

function me() {
  const person = knownMe();
  return person && h("p", { class: "small quiet cut rail-me" }, person.nickName);
}

function tongue() {
  return h("button", {
    class: "link small", type: "button", lang: both("en", "zh-CN"), onclick: () => speak(language() === "zh" ? "en" : "zh"),
  }, both("English", "中文"));
}

function logOutButton() {
  return h("button", { class: "link small", type: "button", onclick: logOut }, both("退出登录", "Log out"));
}
