// Comparisons between systems of one class, in sentences.

import { t } from "../core/language.js";
import { rounded } from "./number.js";
import { subjectOf, unique } from "./report.js";
import { figureText, isLowerBetter } from "./words.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").Subject} Subject */
/**
 * @typedef {object} Compared
 * @property {string} figure
 * @property {Subject} a
 * @property {Subject} b
 * @property {number | null} ratio a / b
 * @property {number | null} low
 * @property {number | null} high
 * @property {string} verdict
 */

/**
 * Returns the comparisons between systems of one class under a workload: those within a result, and those of
 * one system between results of one machine.
 * @param {Report} report
 * @param {string} classKey
 * @param {string} workload
 * @returns {Compared[]}
 */
export function comparisonsOf(report, classKey, workload) {
  const within = report.results.flatMap((result) => result.comparisons.filter((one) => one.workload === workload).flatMap((one) => {
    const [a, b] = [subjectOf(report.subjects, result, one.a), subjectOf(report.subjects, result, one.b)];
    if (a?.classKey !== classKey || b?.classKey !== classKey) return [];
    return [{ ...one, a, b, verdict: isUndecided(one.low, one.high) ? "no_difference" : one.verdict }];
  }));
  return [...within, ...betweenResults(report, classKey, workload)];
}

/** @param {Compared} compared */
export function comparisonText({ figure, a, b, ratio, low, high, verdict }) {
  const name = figureText(figure);
  switch (verdict) {
    case "a": return leadText(name, a, b, ratio, low, high);
    case "b": return leadText(name, b, a, inverse(ratio), inverse(high), inverse(low));
    case "no_difference": return t(`${a.name}与${b.name}：${name}没有差别，区间重叠。`, `${a.name} and ${b.name}: no difference in ${name}; the intervals overlap.`);
    default: return t(`${a.name}与${b.name}：${name}不可比。`, `${a.name} and ${b.name}: ${name} not comparable.`);
  }
}

/**
 * @param {string} figure
 * @param {Subject} winner
 * @param {Subject} other
 * @param {number | null} ratio
 * @param {number | null} low
 * @param {number | null} high
 */
function leadText(figure, winner, other, ratio, low, high) {
  if (ratio === null) return t(`${winner.name}的${figure}优于${other.name}。`, `${winner.name} is ahead of ${other.name} in ${figure}.`);
  const hasInterval = low !== null && high !== null;
  return t(
    `${winner.name}的${figure}是${other.name}的${rounded(ratio)}倍${hasInterval ? `（区间${rounded(low)}至${rounded(high)}）` : ""}。`,
    `${winner.name}: ${rounded(ratio)} times the ${figure} of ${other.name}${hasInterval ? ` (interval ${rounded(low)} to ${rounded(high)})` : ""}.`);
}

/**
 * Compares each system that several results of one machine have, by the intervals of their medians.
 * @param {Report} report
 * @param {string} classKey
 * @param {string} workload
 * @returns {Compared[]}
 */
function betweenResults({ subjects }, classKey, workload) {
  return subjects.filter((subject) => subject.classKey === classKey).flatMap((a, index, group) => group.slice(index + 1).flatMap((b) => {
    const isSame = a.system.id === b.system.id && JSON.stringify(a.result.machine) === JSON.stringify(b.result.machine);
    if (a.result === b.result || !isSame) return [];
    return unique(a.result.summary.map(({ figure }) => figure)).flatMap((figure) => {
      const [ofA, ofB] = [summaryOf(a, workload, figure), summaryOf(b, workload, figure)];
      return ofA && ofB ? [compare(figure, { subject: a, ...ofA }, { subject: b, ...ofB })] : [];
    });
  }));
}

/**
 * @typedef {{subject: Subject, median: number, low: number, high: number}} Interval
 */

/**
 * @param {string} figure
 * @param {Interval} a
 * @param {Interval} b
 * @returns {Compared}
 */
function compare(figure, a, b) {
  const isOverlapping = a.low <= b.high && b.low <= a.high;
  const isAhead = a.median > b.median !== isLowerBetter(figure);
  const ratio = b.median > 0 ? a.median / b.median : null;
  return { figure, a: a.subject, b: b.subject, ratio, low: null, high: null, verdict: isOverlapping ? "no_difference" : isAhead ? "a" : "b" };
}

/**
 * @param {Subject} subject
 * @param {string} workload
 * @param {string} figure
 */
function summaryOf({ result, system }, workload, figure) {
  const found = result.summary.find((one) => one.system === system.id && one.workload === workload && one.figure === figure);
  if (!found || found.median === null || found.low === null || found.high === null) return null;
  return { median: found.median, low: found.low, high: found.high };
}

/**
 * @param {number | null} low
 * @param {number | null} high
 */
function isUndecided(low, high) {
  return low !== null && high !== null && low <= 1 && high >= 1;
}

/** @param {number | null} ratio */
function inverse(ratio) {
  return ratio === null || ratio === 0 ? null : 1 / ratio;
}
