// The measurements of ports, a table for each port, with the memory beside each figure.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { measured } from "../back-ends.js";
import { bytes, count, duration, percent, rate } from "../number.js";
import { unique } from "../report.js";
import { columnIfAny, numberColumn, table } from "../table.js";
import { operationText, portText, splitPort } from "../words.js";
import { section } from "./section.js";

/** @typedef {import("../back-ends.js").Measured} Measured */
/** @typedef {"size" | "threads" | "per_s" | "p50_us" | "p99_us" | "memory_bytes" | "error"} Field */
/**
 * @typedef {(title: string, field: Field, format: (value: number | null) => string) =>
 * import("../table.js").Column<Measured>[]} ColumnOf
 */

/** @param {import("../report.js").Report} report */
export function ports(report) {
  const rows = measured(report);
  if (rows.length === 0) return null;
  const names = unique(rows.map(({ measurement }) => splitPort(measurement.port)[0]));
  return section("ports", t("端口", "Ports"), h("div", { class: "stack" }, names.flatMap((name) =>
    portTable(name, rows.filter(({ measurement }) => splitPort(measurement.port)[0] === name), names.length > 1))));
}

/**
 * @param {string} name of the port
 * @param {Measured[]} rows
 * @param {boolean} hasHeading
 */
function portTable(name, rows, hasHeading) {
  /** @type {ColumnOf} */
  const column = (title, field, format) => columnIfAny(rows, ({ measurement }) => measurement[field], numberColumn(title, ({ measurement }) => format(measurement[field])));
  const title = portText(name);
  const of = table(t(`端口的测量：${title}`, `Measurements of ports: ${title}`), [
    { title: t("操作", "Operation"), cell: ({ measurement }) => operationText(splitPort(measurement.port)[1]) || title, look: "name" },
    { title: t("后端", "Back end"), cell: ({ place }) => place, look: "text" },
    ...column(t("规模", "Size"), "size", count),
    ...column(t("并发", "Callers"), "threads", count),
    ...column(t("每秒操作", "Operations"), "per_s", rate),
    ...column("p50", "p50_us", duration),
    ...column("p99", "p99_us", duration),
    ...column(t("内存", "Memory"), "memory_bytes", bytes),
    ...column(t("误差", "Error"), "error", percent),
    ...columnIfAny(rows, ({ measurement }) => measurement.note, { title: t("说明", "Note"), cell: ({ measurement }) => measurement.is_failed ? t(`失败：${measurement.note}`, `Failed: ${measurement.note}`) : measurement.note, look: "text" }),
  ], rows);
  return hasHeading ? [h("h3", null, title), of] : [of];
}
