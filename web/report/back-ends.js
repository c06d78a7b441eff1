// The measurements of ports, with a look for each back end.

import { t } from "../core/language.js";
import { unique } from "./report.js";

/** @typedef {import("./result.js").Measurement} Measurement */
/**
 * @typedef {{measurement: Measurement, name: string, look: number}} Measured `name`: back end, with threads
 * and result where they differ
 */

/**
 * @param {import("./report.js").Report} report
 * @returns {Measured[]}
 */
export function measured({ results }) {
  const all = results.flatMap((result, index) => result.measurements.map((measurement) => ({ measurement, number: results.length > 1 ? index + 1 : null })));
  const threads = unique(all.map(({ measurement }) => measurement.threads));
  const named = all.map(({ measurement, number }) => ({ measurement, name: [
    measurement.back_end,
    threads.length > 1 && measurement.threads !== null && t(`，${measurement.threads}个线程`, `, ${measurement.threads} ${measurement.threads === 1 ? "thread" : "threads"}`),
    number !== null && t(`（${number}）`, ` (${number})`),
  ].filter(Boolean).join("") }));
  const names = unique(named.map(({ name }) => name));
  return named.map((one) => ({ ...one, look: names.indexOf(one.name) }));
}
