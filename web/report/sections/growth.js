// Cost as a mall grows: time and memory of ports by size.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { measured } from "../back-ends.js";
import { chartFigure } from "../chart/figure.js";
import { drawLines } from "../chart/line-chart.js";
import { logDomain } from "../chart/scale.js";
import { bytes, count, duration, rounded } from "../number.js";
import { latencyAxis } from "../percentiles.js";
import { unique } from "../report.js";
import { columnIfAny, numberColumn, table } from "../table.js";
import { measurementText, portText, splitPort } from "../words.js";
import { panels, section } from "./section.js";

/** @typedef {import("../back-ends.js").Measured} Measured */
/** @typedef {{name: string, look: number, points: [number, number][]}} Series */

const MAX_MEMORY_TICKS = 5;

/** @param {import("../report.js").Report} report */
export function growth(report) {
  const all = measured(report);
  const groups = unique(all.map(({ measurement }) => splitPort(measurement.port)[0])).map((name) => ({
    name, charts: portCharts(name, all.filter(({ measurement }) => splitPort(measurement.port)[0] === name)),
  })).filter(({ charts }) => charts.length > 0);
  if (groups.length === 0) return null;
  const blocks = groups.flatMap(({ name, charts }) => [groups.length > 1 && h("h3", null, portText(name)), panels(charts)]);
  return section("growth", t("规模增长时的开销", "Cost as buyers and data grow"), h("div", { class: "stack" }, blocks));
}

/**
 * Returns a chart of times for each operation of a port, and one of the memory.
 * @param {string} name
 * @param {Measured[]} all of the port
 */
function portCharts(name, all) {
  const times = unique(all.map(({ measurement }) => measurement.port)).map((port) =>
    timeChart(measurementText(port), all.filter(({ measurement }) => measurement.port === port)));
  return [...times, memoryChart(portText(name), onePerSize(all))].filter((chart) => chart !== null);
}

/**
 * Keeps the first measurement of the memory of each back end and size, whatever the operation and the callers.
 * @param {Measured[]} all
 * @returns {Measured[]}
 */
function onePerSize(all) {
  const known = new Set();
  return all.flatMap((one) => {
    const key = `${one.place} ${one.measurement.size}`;
    if (one.measurement.memory_bytes === null || known.has(key)) return [];
    known.add(key);
    return [{ ...one, name: one.place }];
  });
}

/**
 * @param {string} port
 * @param {Measured[]} all
 */
function timeChart(port, all) {
  const lines = seriesBySize(all, ({ measurement }) => measurement.p50_us);
  const title = t(`${port}：延迟中位数`, `${port}: median latency`);
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value));
  return growthChart(title, lines, latencyAxis(values), duration, all);
}

/**
 * @param {string} port
 * @param {Measured[]} all
 */
function memoryChart(port, all) {
  const lines = seriesBySize(all, ({ measurement }) => measurement.memory_bytes);
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value));
  return growthChart(t(`${port}：内存`, `${port}: memory`), lines,
    memoryAxis(values), bytes, all);
}

/**
 * Returns an axis with ticks at powers of two.
 * @param {number[]} values
 * @returns {import("../chart/scale.js").Axis}
 */
function memoryAxis(values) {
  const first = Math.floor(Math.log2(Math.min(...values)));
  const last = Math.max(Math.ceil(Math.log2(Math.max(...values))), first + 1);
  const step = Math.ceil((last - first) / MAX_MEMORY_TICKS);
  const ticks = Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => 2 ** (first + index * step));
  return { title: t("内存（对数刻度）", "Memory (logarithmic)"), isLog: true, domain: [2 ** first, 2 ** last], format: bytes, ticks };
}

/**
 * @param {string} title
 * @param {Series[]} lines
 * @param {import("../chart/scale.js").Axis} y
 * @param {(value: number) => string} format
 * @param {Measured[]} all
 */
function growthChart(title, lines, y, format, all) {
  if (lines.length === 0) return null;
  const sizes = unique(lines.flatMap(({ points }) => points.map(([size]) => size))).sort((a, b) => a - b);
  return chartFigure({
    title,
    summary: lines.map((line) => sentence(line, format)).join(t("", " ")),
    legend: lines,
    draw: (width) => drawLines({
      x: { title: t("规模（对数刻度）", "Size (logarithmic)"), isLog: true, domain: logDomain(sizes), format: rounded },
      y, series: lines,
    }, width),
    table: sizeTable(t(`${title}的数据`, `Data: ${title}`), all),
  });
}

/**
 * Returns a line for each back end that was measured at two sizes or more.
 * @param {Measured[]} all
 * @param {(measured: Measured) => number | null} value
 * @returns {Series[]}
 */
function seriesBySize(all, value) {
  return unique(all.map(({ name }) => name)).flatMap((name, look) => {
    const of = all.filter((one) => one.name === name);
    const points = of.flatMap((one) => {
      const [size, y] = [one.measurement.size, value(one)];
      return size === null || y === null || size <= 0 || y <= 0 ? [] : [/** @type {[number, number]} */ ([size, y])];
    }).sort(([a], [b]) => a - b);
    return points.length < 2 ? [] : [{ name, look, points }];
  });
}

/**
 * @param {Series} series
 * @param {(value: number) => string} format
 */
function sentence({ name, points }, format) {
  const [first, last] = [points[0], points[points.length - 1]];
  return t(
    `${name}：规模从${count(first[0])}到${count(last[0])}，由${format(first[1])}变为${format(last[1])}。`,
    `${name}: ${format(first[1])} at ${count(first[0])}, ${format(last[1])} at ${count(last[0])}.`);
}

/**
 * @param {string} name
 * @param {Measured[]} rows
 */
function sizeTable(name, rows) {
  return table(name, [
    { title: t("后端", "Back end"), cell: (/** @type {Measured} */ one) => one.name, look: "name" },
    numberColumn(t("规模", "Size"), (/** @type {Measured} */ { measurement }) => count(measurement.size)),
    numberColumn("p50", (/** @type {Measured} */ { measurement }) => duration(measurement.p50_us)),
    numberColumn("p99", (/** @type {Measured} */ { measurement }) => duration(measurement.p99_us)),
    ...columnIfAny(rows, ({ measurement }) => measurement.memory_bytes, numberColumn(t("内存", "Memory"), ({ measurement }) => bytes(measurement.memory_bytes))),
  ], rows);
}
