// Verdicts: what was expected of a rung under a trigger, and what was seen.

import { t } from "../core/language.js";
import { chip } from "../parts/chip.js";
import { joined } from "./prose.js";
import { failureExtent, failureName } from "./words.js";

/** @typedef {import("./server.js").Case} Case */

/** @param {string[]} expected */
export function expectedText(expected) {
  return expected.length === 0 ? t("通过", "passes") : joined(expected.map(failureName));
}

/** @param {Case} case_ */
export function seenText({ seen, runs, errors }) {
  const failures = Object.entries(seen).map(([failure, { runs: failed, most }]) => t(
    `${failureName(failure)}：${runs}次中${failed}次，最多${failureExtent(failure, most)}`,
    `${failureName(failure)}: ${failed} of ${runs}, up to ${failureExtent(failure, most)}`));
  const parts = [...failures, ...errors.map((error) => t(`没有结果：${error}`, `no verdict: ${error}`))];
  return parts.length === 0 ? t(`${runs}次全部通过`, `passed ${runs} of ${runs}`) : parts.join(t("；", "; "));
}

/** @param {Case} case_ */
export function hasPassed({ seen, errors }) {
  return Object.keys(seen).length === 0 && errors.length === 0;
}

/** @param {Case} case_ */
export function verdictChip(case_) {
  if (case_.errors.length > 0) return chip(t("? 没有结果", "? no verdict"), "long");
  if (!case_.as_expected) return chip(t("≠ 与预期不同", "≠ differs from what was expected"), "long sale");
  return hasPassed(case_) ? chip(t("✓ 通过", "✓ passes"), "good") : chip(t("✗ 如预期失败", "✗ fails as expected"), "bad");
}
