// What an operation costs the servers: CPU time, memory, bytes written. Bars are of one class.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { figureBars } from "../figure-bars.js";
import { defined, formatOf, median } from "../number.js";
import { capital, figureText, placeText, workloadText } from "../words.js";
import { definitions, panels, section } from "./section.js";

/** @typedef {import("../report.js").Report} Report */
/** @typedef {import("../report.js").ClassGroup} ClassGroup */
/** @typedef {"cpu_us_per_operation" | "memory_bytes" | "written_bytes_per_operation"} CostFigure */

/** @type {CostFigure[]} */
const FIGURES = ["cpu_us_per_operation", "memory_bytes", "written_bytes_per_operation"];

/** @param {Report} report */
export function cost(report) {
  const blocks = report.workloads.flatMap((workload) => report.classes.flatMap((group) => costBlock(report, workload, group)));
  if (blocks.length === 0) return null;
  return section("cost", t("开销", "Cost"),
    h("p", { class: "quiet small" }, t("所有服务器进程合计，取各轮的中位数；区间为各轮的范围。", "All server processes together, median of the rounds; intervals are the range of the rounds.")),
    blocks);
}

/**
 * @param {Report} report
 * @param {string} workload
 * @param {ClassGroup} group
 */
function costBlock({ completed, classes }, workload, group) {
  const figures = FIGURES.map((figure) => ({ figure, rows: group.subjects.flatMap((subject) => {
    const values = defined(completed.filter((one) => one.subject === subject && one.run.workload === workload).map(({ run }) => run.cost[figure]));
    const value = median(values);
    return value === null ? [] : [{ subject, value, ...rangeOf(values) }];
  }) })).filter(({ rows }) => rows.length > 0);
  if (figures.length === 0) return [];
  const place = placeText(workload, group.class, classes);
  if (group.subjects.length > 1) return [panels(figures.map(({ figure, rows }) => figureBars(figure, place, rows, "h3")))];
  return [h("div", { class: "card pad stack" },
    h("h3", null, `${group.subjects[0].name}${t("：", ": ")}${workloadText(workload)}`),
    definitions(figures.map(({ figure, rows: [row] }) => [capital(figureText(figure)), [
      h("span", { class: "figure" }, formatOf(figure)(row.value)),
      row.low !== null && row.high !== null && h("span", { class: "small quiet" }, t(`${formatOf(figure)(row.low)}至${formatOf(figure)(row.high)}`, `${formatOf(figure)(row.low)} to ${formatOf(figure)(row.high)}`)),
    ]]), "tiles"))];
}

/** @param {number[]} values */
function rangeOf(values) {
  return values.length > 1 ? { low: Math.min(...values), high: Math.max(...values) } : { low: null, high: null };
}
