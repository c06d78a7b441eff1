// Percentiles of latencies, and their axis.

import { duration, percentile } from "./number.js";
import { logDomain } from "./chart/scale.js";
import { t } from "../core/language.js";

/** @typedef {import("./result.js").Latency} Latency */
/** @typedef {import("./chart/scale.js").Axis} Axis */

/** The shares that tables and ticks show. */
export const SHARES = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];

/**
 * Returns the latency within which a share of the answers came, in µs.
 * @param {Latency} latency
 * @param {number} share 0 to 1
 */
export function percentileOf({ percentiles }, share) {
  return percentiles.find(([known]) => known >= share - 1e-12)?.[1] ?? null;
}

/**
 * Returns the shares, from the median on, of which at least one answer was slower.
 * @param {Latency[]} latencies
 */
export function sharesOf(latencies) {
  const shares = latencies.flatMap(({ percentiles, count }) =>
    percentiles.map(([share]) => share).filter((share) => share >= 0.5 && share < 1 && (count === null || (1 - share) * count >= 1 - 1e-6)));
  return [...new Set(shares)].sort((a, b) => a - b);
}

/**
 * Returns the position of a share on a logarithmic axis: each further nine is one decade.
 * @param {number} share
 */
export function nines(share) {
  return 1 / (1 - share);
}

/**
 * @param {number[]} shares
 * @returns {Axis}
 */
export function percentileAxis(shares) {
  return {
    title: t("请求所占的比例", "Share of requests"),
    isLog: true,
    domain: [2, Math.max(nines(Math.max(...shares)), 100) * 1.0001],
    format: (value) => percentile(1 - 1 / value),
    ticks: SHARES.map(nines),
  };
}

/**
 * @param {number[]} values in µs
 * @returns {Axis}
 */
export function latencyAxis(values) {
  return { title: t("延迟（对数刻度）", "Latency (logarithmic)"), isLog: true, domain: logDomain(values), format: duration };
}
