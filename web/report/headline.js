// The headline figures of a system under a workload: those of the summary, and those that follow from its
// runs.

import { defined, median } from "./number.js";
import { percentileOf } from "./percentiles.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").Subject} Subject */
/** @typedef {import("./result.js").Run} Run */
/**
 * @typedef {object} Headline
 * @property {string} figure
 * @property {number} median
 * @property {number | null} low
 * @property {number | null} high
 * @property {boolean} isMain whether charts show the figure
 */

/**
 * Returns the headline figures, the most important first.
 * @param {Report} report
 * @param {Subject} subject
 * @param {string} workload
 * @returns {Headline[]}
 */
export function headlines(report, subject, workload) {
  const runs = report.completed.filter((one) => one.subject === subject && one.run.workload === workload).map(({ run }) => run);
  const summarised = subject.result.summary.filter((one) => one.system === subject.system.id && one.workload === workload);
  /** @type {Headline[]} */
  const found = summarised.flatMap(({ figure, median: value, low, high }) => (value === null ? [] : [{ figure, median: value, low, high, isMain: true }]));
  for (const [figure, values] of Object.entries(runFigures(runs))) {
    const value = median(values);
    if (value === null || found.some((known) => known.figure === figure)) continue;
    found.push({ figure, median: value, low: null, high: null, isMain: found.length === 0 });
  }
  return found;
}

/**
 * @param {Run[]} runs
 * @returns {Record<string, (number | null)[]>}
 */
function runFigures(runs) {
  return {
    highest_met_per_s: runs.map(({ trials }) => (trials.some(({ met }) => met) ? Math.max(...trials.filter(({ met }) => met).map((trial) => trial.offered_per_s)) : null)),
    accepted_per_s: runs.map(({ rates }) => rates.accepted_per_s),
    persisted_per_s: runs.map(({ rates }) => rates.persisted_per_s),
    answered_per_s: runs.map(({ rates }) => rates.answered_per_s),
    p50_us: runs.map(({ latency }) => percentileOf(latency, 0.5)),
    p99_us: runs.map(({ latency }) => percentileOf(latency, 0.99)),
    ceiling_share: runs.map(ceilingShare),
  };
}

/**
 * Returns the answered rate of a closed loop as a share of the bare handler's.
 * @param {Run} run
 */
function ceilingShare({ ceiling_per_s: ceiling, offered_per_s: offered, rates }) {
  const around = defined([ceiling?.before ?? null, ceiling?.after ?? null]);
  if (around.length === 0 || offered !== null || rates.answered_per_s === null) return null;
  return rates.answered_per_s / (around.reduce((sum, one) => sum + one, 0) / around.length);
}
