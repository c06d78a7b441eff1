// The measurements of ports, with the memory beside each figure.

import { t } from "../../core/language.js";
import { measured } from "../back-ends.js";
import { bytes, count, duration, percent, rate } from "../number.js";
import { columnIfAny, numberColumn, table } from "../table.js";
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
  /** @type {ColumnOf} */
  const column = (title, field, format) => columnIfAny(rows, ({ measurement }) => measurement[field], numberColumn(title, ({ measurement }) => format(measurement[field])));
  return section("ports", t("端口", "Ports"), table(t("端口的测量", "Measurements of ports"), [
    { title: t("端口", "Port"), cell: ({ measurement }) => measurement.port, look: "name" },
    { title: t("后端", "Back end"), cell: ({ name }) => name, look: "text" },
    ...column(t("规模", "Size"), "size", count),
    ...column(t("线程", "Threads"), "threads", count),
    ...column(t("每秒操作", "Operations"), "per_s", rate),
    ...column("p50", "p50_us", duration),
    ...column("p99", "p99_us", duration),
    ...column(t("内存", "Memory"), "memory_bytes", bytes),
    ...column(t("误差", "Error"), "error", percent),
    ...columnIfAny(rows, ({ measurement }) => measurement.note, { title: t("说明", "Note"), cell: ({ measurement }) => measurement.note, look: "text" }),
  ], rows));
}
