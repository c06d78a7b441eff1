// One figure of several systems of one class, as bars.

import { drawBars } from "./chart/bar-chart.js";
import { chartFigure } from "./chart/figure.js";
import { formatOf } from "./number.js";
import { numberColumn, table } from "./table.js";
import { t } from "../core/language.js";
import { capital, figureText } from "./words.js";

/** @typedef {import("./report.js").Subject} Subject */
/**
 * @typedef {object} Row
 * @property {Subject} subject
 * @property {number} value
 * @property {number | null} low
 * @property {number | null} high
 */

/**
 * @param {string} figure
 * @param {string} place the workload, and the class where needed
 * @param {Row[]} rows
 */
export function figureBars(figure, place, rows) {
  const format = formatOf(figure);
  const title = `${capital(figureText(figure))}${t("：", ": ")}${place}`;
  const interval = (/** @type {Row} */ { low, high }) => (low !== null && high !== null ? t(`${format(low)}至${format(high)}`, `${format(low)} to ${format(high)}`) : "");
  const parts = rows.map((row) => `${row.subject.name} ${format(row.value)}${interval(row) && t(`（${interval(row)}）`, ` (${interval(row)})`)}`);
  const data = table(t(`${title}的数据`, `Data: ${title}`), [
    { title: t("系统", "System"), cell: (/** @type {Row} */ { subject }) => subject.name, look: "name" },
    numberColumn(capital(figureText(figure)), (/** @type {Row} */ { value }) => format(value)),
    numberColumn(t("区间", "Interval"), interval),
  ], rows);
  return chartFigure({
    title,
    summary: t(`${parts.join("；")}。`, `${parts.join("; ")}.`),
    draw: (width) => drawBars(rows.map(({ subject, ...row }) => ({ name: subject.name, look: subject.look, ...row })), format, width),
    table: data,
  }, "h4");
}
