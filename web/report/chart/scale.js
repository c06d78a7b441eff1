// Axes: domains, positions and ticks.

import { scaleLinear, scaleLog } from "../vendor/d3.js";

/**
 * @typedef {object} Axis
 * @property {string} title with the unit
 * @property {boolean} isLog
 * @property {[number, number]} domain
 * @property {(value: number) => string} format
 * @property {number[]} [ticks] default: round values
 */
/** @typedef {{(value: number): number, ticks: (count: number) => number[]}} Scale */

/** A logarithmic axis has ticks at 1, 2 and 5 if they are at most this many times the wanted count. */
const LOG_TICKS_SHARE = 2;
/** From this ratio of the largest to the smallest value, an axis is logarithmic. */
const LOG_RATIO = 20;

/**
 * @param {Axis} axis
 * @param {[number, number]} range
 * @returns {Scale}
 */
export function scaleOf({ isLog, domain }, range) {
  const make = /** @type {(domain: number[], range: number[]) => Scale} */ (/** @type {unknown} */ (isLog ? scaleLog : scaleLinear));
  return make(domain, range);
}

/**
 * @param {Axis} axis
 * @param {number} count wanted; a linear axis has about as many
 */
export function ticksOf(axis, count) {
  const [low, high] = axis.domain;
  if (axis.ticks) return axis.ticks.filter((tick) => tick >= low && tick <= high);
  const ticks = scaleOf(axis, [0, 1]).ticks(count);
  if (!axis.isLog) return ticks;
  const factors = 3 * Math.log10(high / low) <= LOG_TICKS_SHARE * count ? [1, 2, 5] : [1];
  return ticks.filter((tick) => factors.includes(leadingDigit(tick)));
}

/** @param {number} tick positive, with one digit that is not zero */
export function leadingDigit(tick) {
  return Math.round(tick / 10 ** Math.floor(Math.log10(tick) + 1e-9));
}

/**
 * Returns the domain from zero to a round value.
 * @param {number[]} values
 * @returns {[number, number]}
 */
export function linearDomain(values) {
  return [0, roundUp(Math.max(...values, 0)) || 1];
}

/**
 * Returns the domain between round values. Values that a logarithm does not have are ignored.
 * @param {number[]} values
 * @returns {[number, number]}
 */
export function logDomain(values) {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) return [1, 10];
  const [low, high] = [roundDown(Math.min(...positive)), roundUp(Math.max(...positive))];
  return high > low ? [low, high] : [low / 2, high * 2];
}

/**
 * Returns whether the values span so much that only a logarithmic axis shows the small ones.
 * @param {number[]} values
 */
export function needLog(values) {
  const positive = values.filter((value) => value > 0);
  return positive.length === values.length && Math.max(...positive) >= LOG_RATIO * Math.min(...positive);
}

/** @param {number} value */
function roundUp(value) {
  if (value <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 1.5, 2, 3, 5, 7, 10].find((factor) => factor * power >= value * (1 - 1e-9)) ?? 10);
}

/** @param {number} value positive */
function roundDown(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([7, 5, 3, 2, 1.5, 1].find((factor) => factor * power <= value * (1 + 1e-9)) ?? 1);
}
