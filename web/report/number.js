// Numbers with their units: three significant digits for measured values, every digit for counts.

import { t } from "../core/language.js";

const NO_BREAK_SPACE = "\u00a0";
/** Shown for a value that the file does not have. */
export const ABSENT = "–";

const exactFormat = new Intl.NumberFormat("en-US", { maximumFractionDigits: 20 });
const roundedFormat = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

/** @typedef {number | null | undefined} MaybeNumber */

/** @param {MaybeNumber} value */
export function count(value) {
  return format(value, (known) => exactFormat.format(known));
}

/** @param {MaybeNumber} value */
export function rounded(value) {
  return format(value, (known) => roundedFormat.format(known));
}

/** @param {MaybeNumber} value per second */
export function rate(value) {
  return format(value, (known) => `${rounded(known)}${NO_BREAK_SPACE}/s`);
}

/** @param {MaybeNumber} us */
export function duration(us) {
  return format(us, (known) => {
    const size = Math.abs(known);
    if (size < 1) return unit(known * 1e3, "纳秒", "ns");
    if (size < 999.5) return unit(known, "微秒", "µs");
    if (size < 999.5e3) return unit(known / 1e3, "毫秒", "ms");
    return unit(known / 1e6, "秒", "s");
  });
}

/** @param {MaybeNumber} seconds */
export function span(seconds) {
  return format(seconds, (known) => {
    if (known < 60) return unit(known, "秒", "s");
    const [hours, minutes, rest] = [Math.floor(known / 3_600), Math.floor(known / 60) % 60, Math.floor(known % 60)];
    if (hours > 0) return t(`${hours}小时${minutes}分`, `${hours} h ${minutes} min`);
    return t(`${minutes}分${rest}秒`, `${minutes} min ${rest} s`);
  });
}

/** @param {MaybeNumber} value */
export function bytes(value) {
  return format(value, (known) => {
    const power = Math.min(3, Math.max(0, Math.floor(Math.log2(Math.max(Math.abs(known), 1)) / 10)));
    if (power === 0) return unit(known, "字节", Math.abs(known) === 1 ? "byte" : "bytes");
    return `${rounded(known / 1_024 ** power)}${NO_BREAK_SPACE}${["", "KiB", "MiB", "GiB"][power]}`;
  });
}

/** @param {MaybeNumber} value 0 to 1 */
export function percent(value) {
  return format(value, (known) => unit(known * 100, "%", "%"));
}

/**
 * Returns a percentile, such as "99.9 %", with every digit.
 * @param {number} share 0 to 1
 */
export function percentile(share) {
  const digits = exactFormat.format(Number((share * 100).toFixed(8)));
  return t(`${digits}%`, `${digits}${NO_BREAK_SPACE}%`);
}

/**
 * @param {number} value
 * @param {string} zh
 * @param {string} en
 */
function unit(value, zh, en) {
  return t(`${rounded(value)}${zh}`, `${rounded(value)}${NO_BREAK_SPACE}${en}`);
}

/**
 * @param {MaybeNumber} value
 * @param {(known: number) => string} known
 */
function format(value, known) {
  return value === null || value === undefined || !Number.isFinite(value) ? ABSENT : known(value);
}

/**
 * @param {string} figure name that ends in its unit, such as `p99_us`
 * @returns {(value: MaybeNumber) => string}
 */
export function formatOf(figure) {
  if (figure.endsWith("_per_s")) return rate;
  if (figure.includes("_us")) return duration;
  if (figure.includes("bytes")) return bytes;
  if (figure.endsWith("share")) return percent;
  return rounded;
}

/** @param {(number | null)[]} values */
export function median(values) {
  const sorted = defined(values).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * @param {(number | null)[]} values
 * @returns {number[]}
 */
export function defined(values) {
  return values.filter((value) => value !== null);
}
