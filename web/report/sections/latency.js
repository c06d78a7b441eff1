// Latency by percentile: one chart for each workload and class. Several rounds give their median, and the
// range of the rounds as an area. A table sums up several workloads.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chartFigure } from "../chart/figure.js";
import { drawLines } from "../chart/line-chart.js";
import { classTable } from "../class-table.js";
import { workloadDisclosure } from "../disclosure.js";
import { ABSENT, count, defined, duration, median, percentile } from "../number.js";
import { SHARES, latencyAxis, nines, percentileAxis, percentileOf, sharesOf } from "../percentiles.js";
import { numberColumn, table } from "../table.js";
import { capital, placeText, workloadText } from "../words.js";
import { panels, section } from "./section.js";

/** @typedef {import("../report.js").Report} Report */
/** @typedef {import("../report.js").Subject} Subject */
/** @typedef {import("../result.js").Latency} Latency */
/** @typedef {{share: number, low: number, median: number, high: number}} Point */
/** @typedef {{subject: Subject, latencies: Latency[], points: Point[]}} Curve */

/** @param {Report} report */
export function latency(report) {
  const blocks = report.workloads.flatMap((workload) => {
    const curves = report.subjects.flatMap((subject) => curve(report, subject, workload));
    // Charts of one workload share their axes.
    const charts = report.classes.map((group) => latencyChart(placeText(workload, group.class, report.classes), curves.filter(({ subject }) => subject.classKey === group.key), curves));
    return curves.length === 0 ? [] : [{ workload, curves, charts: panels(charts) }];
  });
  if (blocks.length === 0) return null;
  return section("latency", t("延迟", "Latency"), blocks.length === 1 ? blocks[0].charts : [
    latencyTable(report, blocks),
    // On paper, the table stands for the charts that are closed.
    ...blocks.map(({ workload, charts }) => workloadDisclosure(workload, "h3", false, [], charts)),
  ]);
}

/**
 * @param {Report} report
 * @param {{workload: string, curves: Curve[]}[]} blocks
 */
function latencyTable(report, blocks) {
  return classTable(report, t("延迟p99，下面是中位数（各轮的中位数）", "Latency p99, below it the median latency (median of the rounds)"), blocks.map(({ workload, curves }) => ({
    title: capital(workloadText(workload)),
    cell: (subject) => {
      const latencies = curves.find((one) => one.subject === subject)?.latencies;
      if (!latencies) return ABSENT;
      const [most, half] = [0.99, 0.5].map((share) => duration(median(latencies.map((one) => percentileOf(one, share)))));
      return [h("span", null, most), h("span", { class: "under" }, half)];
    },
  })));
}

/**
 * @param {Report} report
 * @param {Subject} subject
 * @param {string} workload
 * @returns {Curve[]}
 */
function curve({ completed }, subject, workload) {
  const latencies = completed.filter((one) => one.subject === subject && one.run.workload === workload).map(({ run }) => run.latency);
  const points = sharesOf(latencies).flatMap((share) => {
    const values = defined(latencies.map((one) => percentileOf(one, share)));
    const middle = median(values);
    return middle === null ? [] : [{ share, median: middle, low: Math.min(...values), high: Math.max(...values) }];
  });
  return points.length === 0 ? [] : [{ subject, latencies: latencies.filter(({ percentiles }) => percentiles.length > 0), points }];
}

/**
 * @param {string} place workload and class
 * @param {Curve[]} curves of the class
 * @param {Curve[]} all curves of the workload
 */
function latencyChart(place, curves, all) {
  if (curves.length === 0) return null;
  const points = all.flatMap((one) => one.points);
  const [x, y] = [percentileAxis(points.map(({ share }) => share)), latencyAxis(points.flatMap(({ low, high }) => [low, high]))];
  const title = t(`延迟的百分位数：${place}`, `Latency by percentile: ${place}`);
  const hasRounds = curves.some(({ latencies }) => latencies.length > 1);
  return chartFigure({
    title,
    summary: curves.map(sentence).join(t("", " ")),
    legend: curves.map(({ subject }) => ({ name: subject.name, look: subject.look })),
    draw: (width) => drawLines({ x, y, series: curves.map(toSeries) }, width),
    table: percentileTable(t(`${title}的数据`, `Data: ${title}`), curves.map(({ subject, latencies }) => ({ name: subject.name, latencies }))),
    note: hasRounds ? t("线：各轮的中位数。色带：各轮的范围。", "Lines: median of the rounds. Areas: range of the rounds.") : "",
  });
}

/** @param {Curve} curve */
function toSeries({ subject, latencies, points }) {
  const line = points.map(({ share, median: value }) => /** @type {[number, number]} */ ([nines(share), value]));
  return {
    name: subject.name, look: subject.look, points: line,
    marked: line.filter((_, index) => SHARES.includes(points[index].share)),
    band: latencies.length > 1 ? points.map(({ share, low, high }) => /** @type {[number, number, number]} */ ([nines(share), low, high])) : undefined,
  };
}

/** @param {Curve} curve */
function sentence({ subject, latencies }) {
  const known = [0.5, 0.99, 0.999].flatMap((share) => {
    const value = median(latencies.map((one) => percentileOf(one, share)));
    return value === null ? [] : [t(`${percentile(share)}在${duration(value)}以内`, `${percentile(share)} within ${duration(value)}`)];
  });
  return t(`${subject.name}：${known.join("，")}。`, `${subject.name}: ${known.join(", ")}.`);
}

/**
 * @param {string} name
 * @param {{name: string, latencies: Latency[]}[]} rows
 */
export function percentileTable(name, rows) {
  /** @typedef {{name: string, latencies: Latency[]}} Row */
  const shown = [...SHARES.filter((share) => rows.some(({ latencies }) => sharesOf(latencies).includes(share))), 1];
  return table(name, [
    { title: t("系统", "System"), cell: (/** @type {Row} */ row) => row.name, look: "name" },
    numberColumn(t("样本数", "Samples"), (/** @type {Row} */ { latencies }) => count(latencies.reduce((sum, one) => sum + (one.count ?? 0), 0))),
    numberColumn(t("平均", "Mean"), (/** @type {Row} */ { latencies }) => duration(median(latencies.map(({ mean_us: mean }) => mean)))),
    ...shown.map((share) => numberColumn(share === 1 ? t("最大", "Maximum") : percentile(share), (/** @type {Row} */ { latencies }) =>
      duration(median(latencies.map((one) => percentileOf(one, share)))))),
  ], rows);
}
