// Estimates of a sale's opening and end. A response is accurate to half its round trip: the quickest one is
// used until drift makes it worse, or the server's clock was set.

import { momentAfter } from "../../core/server-time.js";

/**
 * @typedef {object} SaleWindow
 * @property {import("../../core/server-time.js").Moment} begins
 * @property {import("../../core/server-time.js").Moment} ends
 * @property {string} name both times by the server's wall clock, for comparison
 * @property {number} within error bound in milliseconds
 * @property {number} receivedAt time of the response
 */

/** Largest relative drift between two clocks. */
const MAX_CLOCK_DRIFT = 1e-4;
/** The API rounds to milliseconds. */
const ROUNDING_MS = 2;

/**
 * @param {import("../../core/api.js").ApiResponse} response of `GET /sale/{id}`
 * @returns {SaleWindow}
 */
export function parseWindow(response) {
  const { beginsInMs, endsInMs, beginTime, endTime } = response.data;
  return {
    begins: momentAfter(beginsInMs, response), ends: momentAfter(endsInMs, response), name: `${beginTime} ${endTime}`,
    within: (response.receivedAt - response.sentAt) / 2 + ROUNDING_MS, receivedAt: response.receivedAt,
  };
}

/**
 * Returns the more accurate estimate.
 * @param {SaleWindow | undefined} current
 * @param {SaleWindow} candidate
 */
export function moreAccurate(current, candidate) {
  if (!current || current.name !== candidate.name) return candidate;
  const currentError = current.within + (candidate.receivedAt - current.receivedAt) * MAX_CLOCK_DRIFT;
  // A contradiction: the server's clock was set, or this device slept.
  const isContradictory = Math.abs(current.begins - candidate.begins) > currentError + candidate.within;
  return isContradictory || candidate.within <= currentError ? candidate : current;
}
