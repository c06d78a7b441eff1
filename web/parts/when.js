// When something was: the mall's wall-clock text, as people write it.

import { h } from "../core/dom.js";
import { both } from "../core/language.js";

/** @param {string} text `2026-11-21T10:09:17`, of the mall's zone */
export function when(text) {
  return h("time", { datetime: text }, whenText(text));
}

/** @param {string} text */
export function whenText(text) {
  // Read and written as if it were of one zone, so that no zone changes it.
  const moment = Date.parse(`${text}Z`);
  const isThisYear = text.startsWith(`${new Date().getFullYear()}-`);
  return new Intl.DateTimeFormat(both("zh-CN", "en-GB"), {
    timeZone: "UTC", year: isThisYear ? undefined : "numeric", month: "short", day: "numeric",
    hour: "2-digit", minute: "2-digit", hourCycle: "h23",
  }).format(moment);
}
