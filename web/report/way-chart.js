// Figures of ways: rows of several results, and bars.

import { t } from "../core/language.js";
import { drawBars } from "./chart/bar-chart.js";
import { chartFigure } from "./chart/figure.js";
import { numberColumn, table } from "./table.js";

/**
 * Joins the rows of several results. Ways then carry the number of their result.
 * @template {{way: string}} Row
 * @param {Row[][]} results
 * @returns {Row[]}
 */
export function numberedWays(results) {
  if (results.length === 1) return results[0];
  return results.flatMap((rows, index) => rows.map((row) => ({ ...row, way: `${row.way} (${index + 1})` })));
}

/**
 * Returns a chart with a bar for each row; `null` if no row has the figure.
 * @template {{way: string}} Row
 * @param {string} title
 * @param {Row[]} rows one of each way
 * @param {(row: Row) => number | null} figure
 * @param {(value: number) => string} format
 * @param {number} look
 */
export function wayChart(title, rows, figure, format, look) {
  const bars = rows.flatMap((row) => {
    const value = figure(row);
    return value === null ? [] : [{ name: row.way, look, value, low: null, high: null }];
  });
  if (bars.length === 0) return null;
  const parts = bars.map(({ name, value }) => `${name} ${format(value)}`);
  return chartFigure({
    title,
    summary: t(`${parts.join("；")}。`, `${parts.join("; ")}.`),
    draw: (width) => drawBars(bars, format, width),
    table: table(t(`${title}的数据`, `Data: ${title}`), [
      { title: t("方式", "Way"), cell: (/** @type {typeof bars[number]} */ { name }) => name, look: "name" },
      numberColumn(title, (/** @type {typeof bars[number]} */ { value }) => format(value)),
    ], bars),
  });
}
