// Dates and times from the API, formatted for the reader's language.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";

/** @param {string} text local time of the mall's zone, such as `2026-11-21T10:09:17` */
export function dateTime(text) {
  return h("time", { datetime: text }, formatDateTime(text));
}

/** @param {string} text */
export function formatDateTime(text) {
  // Parsed and formatted as UTC, so that no time zone shifts the result.
  const moment = Date.parse(`${text}Z`);
  const isThisYear = text.startsWith(`${new Date().getFullYear()}-`);
  return new Intl.DateTimeFormat(t("zh-CN", "en-GB"), {
    timeZone: "UTC", year: isThisYear ? undefined : "numeric", month: "short", day: "numeric",
    hour: "2-digit", minute: "2-digit", hourCycle: "h23",
  }).format(moment);
}
