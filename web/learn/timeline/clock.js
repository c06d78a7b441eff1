// Times of a timeline, in milliseconds: one unit, so that neighbours can be compared.

import { t } from "../../core/language.js";

/** Below this time, two digits follow the point, otherwise one. */
const FINE_BELOW_MS = 100;

/** @param {number} us */
export function clock(us) {
  const ms = us / 1_000;
  const digits = ms < FINE_BELOW_MS ? 2 : 1;
  const text = ms.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return t(`${text}毫秒`, `${text}\u00a0ms`);
}
