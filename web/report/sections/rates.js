// Achieved against offered rate, and the latency at each rate, from the trials of ramps.

import { t } from "../../core/language.js";
import { chartFigure } from "../chart/figure.js";
import { drawLines } from "../chart/line-chart.js";
import { linearDomain, logDomain, needLog } from "../chart/scale.js";
import { defined, duration, rate } from "../number.js";
import { latencyAxis } from "../percentiles.js";
import { numberColumn, table } from "../table.js";
import { shortClassText } from "../words.js";
import { panels, section } from "./section.js";

/** @typedef {import("../report.js").SubjectRun} SubjectRun */
/** @typedef {import("../result.js").Trial} Trial */
/** @typedef {{name: string, system: string, look: number, trials: Trial[]}} Ramp */

/** @param {import("../report.js").Report} report */
export function rates({ classes, completed }) {
  const charts = classes.flatMap((group) => {
    const ramps = completed.filter(({ subject, run }) => subject.classKey === group.key && run.trials.length > 0).map(toRamp);
    const place = shortClassText(group.class, classes);
    return ramps.length === 0 ? [] : [panels([achievedChart(place, ramps), latencyChart(place, ramps)])];
  });
  return charts.length === 0 ? null : section("rates", t("速率", "Rates"), charts);
}

/** @param {SubjectRun} subjectRun */
function toRamp({ subject, run }) {
  const round = run.round === null ? "" : t(`，第${run.round}轮`, `, round ${run.round}`);
  return { name: `${subject.name}${round}`, system: subject.name, look: subject.look, trials: [...run.trials].sort((a, b) => a.offered_per_s - b.offered_per_s) };
}

/**
 * @param {string} place the class, if there are several
 * @param {Ramp[]} ramps
 */
function achievedChart(place, ramps) {
  const trials = ramps.flatMap((ramp) => ramp.trials);
  const offered = trials.map(({ offered_per_s: value }) => value);
  const achieved = defined(trials.map(({ achieved_per_s: value }) => value));
  const isLog = needLog([...offered, ...achieved]);
  const domain = isLog ? logDomain : linearDomain;
  const [x, y] = [domain(offered), domain([...achieved, ...offered])];
  const title = [t("实际速率与要求的速率", "Achieved against offered rate"), place].filter(Boolean).join(t("：", ": "));
  return chartFigure({
    title,
    summary: ramps.map(rampSentence).join(t("", " ")),
    legend: legendOf(ramps),
    draw: (width) => drawLines({
      x: { title: t("要求的速率", "Offered rate"), isLog, domain: x, format: rate },
      y: { title: t("实际速率", "Achieved rate"), isLog, domain: y, format: rate },
      reference: [[x[0], x[0]], [Math.min(x[1], y[1]), Math.min(x[1], y[1])]],
      series: ramps.map((ramp) => series(ramp, ({ achieved_per_s: value }) => value)),
    }, width),
    table: trialTable(title, ramps),
    note: t("细线：实际速率等于要求的速率。圆圈：没有按时应答。", "Thin line: achieved equals offered. Circles: the rate was not met in time."),
  });
}

/**
 * @param {string} place the class, if there are several
 * @param {Ramp[]} ramps
 */
function latencyChart(place, ramps) {
  const trials = ramps.flatMap((ramp) => ramp.trials);
  const offered = trials.map(({ offered_per_s: value }) => value);
  const latencies = defined(trials.map(({ p99_us: value }) => value));
  if (latencies.length === 0) return null;
  const isLog = needLog(offered);
  const title = [t("各速率下的延迟p99", "p99 of the latency by offered rate"), place].filter(Boolean).join(t("：", ": "));
  return chartFigure({
    title,
    summary: ramps.map(latencySentence).join(t("", " ")),
    legend: legendOf(ramps),
    draw: (width) => drawLines({
      x: { title: t("要求的速率", "Offered rate"), isLog, domain: isLog ? logDomain(offered) : linearDomain(offered), format: rate },
      y: latencyAxis(latencies),
      series: ramps.map((ramp) => series(ramp, ({ p99_us: value }) => value)),
    }, width),
    table: trialTable(title, ramps),
  });
}

/**
 * @param {Ramp} ramp
 * @param {(trial: Trial) => number | null} value
 */
function series({ name, look, trials }, value) {
  const toPoints = (/** @type {Trial[]} */ some) => some.flatMap((trial) => {
    const y = value(trial);
    return y === null ? [] : [/** @type {[number, number]} */ ([trial.offered_per_s, y])];
  });
  return { name, look, points: toPoints(trials), ringed: toPoints(trials.filter(({ met }) => !met)) };
}

/** @param {Ramp} ramp */
function rampSentence({ name, trials }) {
  const met = trials.filter((trial) => trial.met).map(({ offered_per_s: value }) => value);
  if (met.length === 0) return t(`${name}：没有一个速率做到按时应答。`, `${name} met no rate in time.`);
  return t(`${name}：最高到${rate(Math.max(...met))}仍按时应答。`, `${name} met rates up to ${rate(Math.max(...met))}.`);
}

/** @param {Ramp} ramp */
function latencySentence({ name, trials }) {
  const known = trials.filter(({ p99_us: value }) => value !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (!first || !last) return t(`${name}：没有数据。`, `${name}: no data.`);
  return t(
    `${name}：p99从${rate(first.offered_per_s)}时的${duration(first.p99_us)}到${rate(last.offered_per_s)}时的${duration(last.p99_us)}。`,
    `${name}: p99 from ${duration(first.p99_us)} at ${rate(first.offered_per_s)} to ${duration(last.p99_us)} at ${rate(last.offered_per_s)}.`);
}

/**
 * Returns one entry for each system: the rounds of a system share a look.
 * @param {Ramp[]} ramps
 */
function legendOf(ramps) {
  return ramps.filter(({ look }, index) => ramps.findIndex((ramp) => ramp.look === look) === index).map(({ system, look }) => ({ name: system, look }));
}

/**
 * @param {string} title
 * @param {Ramp[]} ramps
 */
function trialTable(title, ramps) {
  const rows = ramps.flatMap(({ name, trials }) => trials.map((trial) => ({ name, trial })));
  /** @typedef {{name: string, trial: Trial}} Row */
  return table(t(`${title}的数据`, `Data: ${title}`), [
    { title: t("系统", "System"), cell: (/** @type {Row} */ { name }) => name, look: "name" },
    numberColumn(t("要求", "Offered"), (/** @type {Row} */ { trial }) => rate(trial.offered_per_s)),
    numberColumn(t("实际", "Achieved"), (/** @type {Row} */ { trial }) => rate(trial.achieved_per_s)),
    numberColumn("p50", (/** @type {Row} */ { trial }) => duration(trial.p50_us)),
    numberColumn("p99", (/** @type {Row} */ { trial }) => duration(trial.p99_us)),
    { title: t("按时应答", "Met in time"), cell: (/** @type {Row} */ { trial }) => (trial.met ? t("是", "yes") : t("否", "no")), look: "text" },
  ], rows);
}
