// The measurements of ports, with the names of their back ends.

import { t } from "../core/language.js";
import { unique } from "./report.js";
import { backEndText } from "./words.js";

/** @typedef {import("./result.js").Measurement} Measurement */
/**
 * @typedef {{measurement: Measurement, place: string, name: string}} Measured `place`: back end, with the result
 * where there are several; `name`: the same with callers, where their numbers differ
 */

/**
 * @param {import("./report.js").Report} report
 * @returns {Measured[]}
 */
export function measured({ results }) {
  const all = results.flatMap((result, index) => result.measurements.map((measurement) => ({ measurement, number: results.length > 1 ? index + 1 : null })));
  const callers = unique(all.map(({ measurement }) => measurement.threads));
  return all.map(({ measurement, number }) => {
    const of = number === null ? "" : t(`（${number}）`, ` (${number})`);
    const threads = callers.length > 1 ? measurement.threads : null;
    const by = threads === null ? "" : t(`，并发${threads}`, `, ${threads} ${threads === 1 ? "caller" : "callers"}`);
    const backEnd = backEndText(measurement.back_end);
    return { measurement, place: backEnd + of, name: backEnd + by + of };
  });
}
