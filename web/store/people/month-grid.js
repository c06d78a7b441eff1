// A calendar month of sign-ins. Days follow the mall's time zone, never the client's clock.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { whileBusy } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";

/**
 * @typedef {object} Calendar
 * @property {string} month `2026-11`
 * @property {string} today `2026-11-21`
 * @property {number[]} signed days of the month, made-up days included
 * @property {number[]} madeUp
 * @property {number} streak consecutive days up to today or yesterday
 * @property {number} longest
 * @property {number} makeUpsLeft
 * @property {string} [hereSince] day of registration; earlier days cannot be made up
 */

/**
 * @param {Calendar} calendar
 * @param {(day: string) => unknown} onMakeUp called with a day such as `2026-11-20`
 */
export function monthGrid({ month, today, signed, madeUp, makeUpsLeft, hereSince = "" }, onMakeUp) {
  const [year, number] = month.split("-").map(Number);
  const days = new Date(Date.UTC(year, number, 0)).getUTCDate();
  // Weeks start on Monday.
  const offset = (new Date(Date.UTC(year, number - 1, 1)).getUTCDay() + 6) % 7;
  const names = t(["一", "二", "三", "四", "五", "六", "日"], ["M", "T", "W", "T", "F", "S", "S"]);
  return h("div", null,
    h("div", { class: "month month-names", "aria-hidden": "true" }, names.map((name) => h("span", null, name))),
    h("ol", { class: "month" }, Array.from({ length: days }, (_, index) => {
      const cell = h("li", null, dayCell(index + 1));
      if (index === 0) cell.style.gridColumnStart = String(offset + 1);
      return cell;
    })));

  /** @param {number} day */
  function dayCell(day) {
    const date = `${month}-${String(day).padStart(2, "0")}`;
    const isToday = date === today;
    const className = isToday ? "day today" : "day";
    if (signed.includes(day)) {
      const isMadeUp = madeUp.includes(day);
      return h("span", { class: `${className} ${isMadeUp ? "made-up" : "signed"}`, role: "img", "aria-label": isMadeUp ? t(`${day} 日，已补签`, `${day}, made up`) : t(`${day} 日，已签到`, `${day}, checked in`) },
        h("span", { class: "number" }, day), icon("check"));
    }
    const canMakeUp = date < today && date >= hereSince && today.startsWith(month) && makeUpsLeft > 0;
    if (!canMakeUp) return h("span", { class: date > today ? `${className} to-come` : className }, h("span", { class: "number" }, day), isToday && h("span", { class: "unseen" }, t("今天", "today")));
    const made = h("button", { type: "button", class: `${className} missed`, "aria-label": t(`${day} 日漏签，补签`, `${day}: missed, make up`), onclick: () => whileBusy(made, () => onMakeUp(date)) },
      h("span", { class: "number" }, day));
    return made;
  }
}

/**
 * @param {string} month `2026-11`
 * @param {number} by
 */
export function addMonths(month, by) {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7);
}

/** @param {string} month */
export function monthName(month) {
  return new Intl.DateTimeFormat(t("zh-CN", "en-GB"), { timeZone: "UTC", year: "numeric", month: "long" }).format(Date.parse(`${month}-01`));
}
