// What an operation costs the servers: CPU time, also beside a bare request, memory, bytes written; together
// and by program. Several workloads have a table for each figure.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { classTable } from "../class-table.js";
import { ABSENT, defined, formatOf, median } from "../number.js";
import { unique } from "../report.js";
import { capital, figureText, workloadText } from "../words.js";
import { section } from "./section.js";

/** @typedef {import("../report.js").Report} Report */
/** @typedef {import("../report.js").Subject} Subject */
/** @typedef {import("../result.js").Cost} Cost */
/** @typedef {Exclude<keyof Cost, "programs">} CostFigure */
/** @typedef {(cost: Cost) => number | null} ValueOf */
/** @typedef {{title: string, workload: string, figure: string, value: ValueOf}} Column */

/** @type {CostFigure[]} */
const FIGURES = ["cpu_us_per_operation", "cpu_ratio", "cpu_ratio_persisted", "memory_bytes", "written_bytes_per_operation", "written_bytes_per_order"];

/** @param {Report} report */
export function cost(report) {
  const { workloads } = report;
  const named = FIGURES.map((figure) => ({ figure, title: capital(figureText(figure)), value: (/** @type {Cost} */ of) => of[figure] }));
  const together = workloads.length === 1
    ? costTable(report, t(`开销：${workloadText(workloads[0])}`, `Cost: ${workloadText(workloads[0])}`), named.map((one) => ({ ...one, workload: workloads[0] })))
    : named.flatMap(({ figure, title, value }) => costTable(report, title, workloads.map((workload) => ({ title: capital(workloadText(workload)), workload, figure, value }))));
  const tables = [...together, ...workloads.flatMap((workload) => programTable(report, workload))];
  if (tables.length === 0) return null;
  return section("cost", t("开销", "Cost"),
    h("p", { class: "quiet small" }, t("先是所有服务器进程合计，再是各个程序；取各轮的中位数，区间为各轮的范围。", "All server processes together, then by program; median of the rounds, intervals are the range of the rounds.")),
    tables);
}

/**
 * Returns the table of a workload's cost by program, if any run has several programs.
 * @param {Report} report
 * @param {string} workload
 */
function programTable(report, workload) {
  const costs = report.completed.filter(({ run }) => run.workload === workload).map(({ run }) => run.cost);
  if (costs.every(({ programs }) => programs.length < 2)) return [];
  const names = unique(costs.flatMap(({ programs }) => programs.map(({ name }) => name)));
  return costTable(report, t(`各程序的开销：${workloadText(workload)}`, `Cost by program: ${workloadText(workload)}`), names.flatMap((name) => [
    programColumn(workload, name, "cpu_us_per_operation", t(`${name}处理器时间`, `${name} CPU`)),
    programColumn(workload, name, "written_bytes_per_operation", t(`${name}写入字节`, `${name} bytes written`)),
  ]));
}

/**
 * @param {string} workload
 * @param {string} program
 * @param {"cpu_us_per_operation" | "written_bytes_per_operation"} figure
 * @param {string} title
 * @returns {Column}
 */
function programColumn(workload, program, figure, title) {
  return { title, workload, figure, value: ({ programs }) => programs.find(({ name }) => name === program)?.[figure] ?? null };
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
function valuesOf({ completed }, subject, { workload, value }) {
  return defined(completed.filter((one) => one.subject === subject && one.run.workload === workload).map(({ run }) => value(run.cost)));
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
