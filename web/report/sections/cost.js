// What an operation costs the servers: CPU time, memory, bytes written. Several workloads have a table for each
// figure.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { classTable } from "../class-table.js";
import { ABSENT, defined, formatOf, median } from "../number.js";
import { capital, figureText, workloadText } from "../words.js";
import { section } from "./section.js";

/** @typedef {import("../report.js").Report} Report */
/** @typedef {import("../report.js").Subject} Subject */
/** @typedef {"cpu_us_per_operation" | "memory_bytes" | "written_bytes_per_operation"} CostFigure */
/** @typedef {{title: string, workload: string, figure: CostFigure}} Column */

/** @type {CostFigure[]} */
const FIGURES = ["cpu_us_per_operation", "memory_bytes", "written_bytes_per_operation"];

/** @param {Report} report */
export function cost(report) {
  const { workloads } = report;
  const named = FIGURES.map((figure) => ({ figure, title: capital(figureText(figure)) }));
  const tables = workloads.length === 1
    ? costTable(report, t(`开销：${workloadText(workloads[0])}`, `Cost: ${workloadText(workloads[0])}`), named.map((one) => ({ ...one, workload: workloads[0] })))
    : named.flatMap(({ figure, title }) => costTable(report, title, workloads.map((workload) => ({ title: capital(workloadText(workload)), workload, figure }))));
  if (tables.length === 0) return null;
  return section("cost", t("开销", "Cost"),
    h("p", { class: "quiet small" }, t("所有服务器进程合计，取各轮的中位数；区间为各轮的范围。", "All server processes together, median of the rounds; intervals are the range of the rounds.")),
    tables);
}

/**
 * Returns whether the figure is one of this section.
 * @param {string} figure
 */
export function isCost(figure) {
  return FIGURES.some((one) => one === figure);
}

/**
 * Returns the table of the columns that have a value, if any has.
 * @param {Report} report
 * @param {string} name
 * @param {Column[]} columns
 */
function costTable(report, name, columns) {
  const known = columns.filter((column) => report.subjects.some((subject) => valuesOf(report, subject, column).length > 0));
  return known.length === 0 ? [] : [classTable(report, name, known.map((column) => ({
    title: column.title, cell: (subject) => costCell(valuesOf(report, subject, column), formatOf(column.figure)),
  })))];
}

/**
 * @param {Report} report
 * @param {Subject} subject
 * @param {Column} column
 */
function valuesOf({ completed }, subject, { workload, figure }) {
  return defined(completed.filter((one) => one.subject === subject && one.run.workload === workload).map(({ run }) => run.cost[figure]));
}

/**
 * @param {number[]} values of the rounds
 * @param {(value: number | null) => string} format
 */
function costCell(values, format) {
  if (values.length === 0) return ABSENT;
  const [low, high] = [Math.min(...values), Math.max(...values)].map(format);
  return [h("span", null, format(median(values))), values.length > 1 && h("span", { class: "under" }, t(`${low}至${high}`, `${low} to ${high}`))];
}
