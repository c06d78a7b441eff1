// Timetable of a sale: units released in waves.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chip } from "../../parts/chip.js";
import { formatDateTime } from "../../parts/date-time.js";

/** @typedef {{time: string, units: number, isReleased: boolean}} PageWave */

/**
 * Returns the section with all waves; nothing without waves to come.
 * @param {PageWave[]} [waves]
 */
export function timetable(waves = []) {
  if (waves.length === 0) return null;
  return h("section", { class: "card pad stack" }, h("h2", null, t("分批放货", "More units at")),
    h("ol", { class: "waves" }, waves.map(({ time, units, isReleased }) => h("li", { class: "row wrap" },
      h("span", { class: "grow" }, formatDateTime(time)), h("span", { class: "number" }, t(`${units.toLocaleString()} 份`, `${units.toLocaleString()} units`)),
      isReleased && chip(t("已放出", "Released"))))));
}
