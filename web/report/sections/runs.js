// Every run with its answers, rates, and what the load generator took.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { count, duration, percent, rate, span } from "../number.js";
import { columnIfAny, numberColumn, table } from "../table.js";
import { workloadText } from "../words.js";
import { section } from "./section.js";

/** @typedef {import("../report.js").SubjectRun} Row */
/** @typedef {import("../table.js").Column<Row>} RunColumn */
/**
 * @typedef {(title: string, value: (row: Row) => number | null, format?: (value: number | null) => string) =>
 * RunColumn[]} ColumnOf
 */

/** A table of more rows than this is closed at first. */
const MAX_OPEN_ROWS = 10;

/** @param {import("../report.js").Report} report */
export function runs({ runs: rows }) {
  const parts = [
    part(t("应答与速率", "Answers and rates"), rows, answerColumns(rows)),
    part(t("负载发生器", "Load generator"), rows, generatorColumns(rows)),
    part(t("空处理函数（上限）", "Bare handler, the ceiling"), rows, ceilingColumns(rows)),
  ].filter((one) => one !== null);
  return parts.length === 0 ? null : section("runs", t("各轮运行", "All runs"), parts);
}

/**
 * @param {string} name
 * @param {Row[]} rows
 * @param {RunColumn[]} columns
 */
function part(name, rows, columns) {
  if (columns.length === 0) return null;
  return h("details", { open: rows.length <= MAX_OPEN_ROWS }, h("summary", null, name), table(name, [...nameColumns(rows), ...columns], rows));
}

/**
 * @param {Row[]} rows
 * @returns {RunColumn[]}
 */
function nameColumns(rows) {
  return [
    { title: t("系统", "System"), cell: ({ subject }) => subject.name, look: "name" },
    { title: t("负载", "Workload"), cell: ({ run }) => workloadText(run.workload), look: "text" },
    ...columnIfAny(rows, ({ run }) => run.round, numberColumn(t("轮次", "Round"), ({ run }) => count(run.round))),
  ];
}

/**
 * @param {Row[]} rows
 * @returns {RunColumn[]}
 */
function answerColumns(rows) {
  const column = columnsOf(rows);
  return [
    ...column(t("历时", "Elapsed"), ({ run }) => run.elapsed_s, span),
    ...column(t("要求的速率", "Offered"), ({ run }) => run.offered_per_s, rate),
    ...column(t("应答", "Answered"), ({ run }) => run.rates.answered_per_s, rate),
    ...column(t("接受", "Accepted"), ({ run }) => run.rates.accepted_per_s, rate),
    ...column(t("落盘", "Persisted"), ({ run }) => run.rates.persisted_per_s, rate),
    ...column(t("接受数", "Accepted, count"), ({ run }) => run.answers.accepted),
    ...column(t("售罄", "Sold out"), ({ run }) => run.answers.sold_out),
    ...column(t("已抢过", "Already bought"), ({ run }) => run.answers.already_bought),
    ...column(t("其他拒绝", "Otherwise refused"), ({ run }) => run.answers.refused),
    ...column(t("过载拒绝", "Rejected by load shedding"), ({ run }) => run.answers.rejected),
    ...column(t("没有应答", "No answer"), ({ run }) => run.answers.lost),
    ...columnIfAny(rows, ({ run }) => run.failure, { title: t("失败", "Failure"), cell: ({ run }) => (run.failure === null ? "" : t("失败", "failed")), look: "text" }),
  ];
}

/**
 * @param {Row[]} rows
 * @returns {RunColumn[]}
 */
function generatorColumns(rows) {
  const column = columnsOf(rows);
  return [
    ...column(t("每个请求的处理器时间", "CPU time per request"), ({ run }) => run.generator.cpu_us_per_request, duration),
    ...column(t("最忙线程", "Busiest thread"), ({ run }) => run.generator.busiest_share, percent),
    ...column(t("等待空闲连接", "Waited for a connection"), ({ run }) => run.generator.waited),
    ...column(t("没有发出", "Not sent"), ({ run }) => run.generator.unsent),
    ...column(t("发出太晚", "Sent late"), ({ run }) => run.generator.late),
  ];
}

/**
 * A handler that returns a constant under the same load.
 * @param {Row[]} rows
 * @returns {RunColumn[]}
 */
function ceilingColumns(rows) {
  const column = columnsOf(rows);
  return [
    ...column(t("测试之前", "Before the run"), ({ run }) => run.ceiling_per_s?.before ?? null, rate),
    ...column(t("测试之后", "After the run"), ({ run }) => run.ceiling_per_s?.after ?? null, rate),
    ...column(t("之前每个请求的处理器时间", "CPU per request, before"), ({ run }) => run.ceiling_cpu_us?.before ?? null, duration),
    ...column(t("之后每个请求的处理器时间", "CPU per request, after"), ({ run }) => run.ceiling_cpu_us?.after ?? null, duration),
  ];
}

/**
 * Returns a function that makes a column of a number if any run has the number.
 * @param {Row[]} rows
 * @returns {ColumnOf}
 */
function columnsOf(rows) {
  return (title, value, format = count) => columnIfAny(rows, value, numberColumn(title, (row) => format(value(row))));
}
