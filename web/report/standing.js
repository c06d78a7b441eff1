// Who is ahead: the places of the systems of one class under a workload, by the comparisons of each result.

import { t } from "../core/language.js";
import { comparisonsOf } from "./comparisons.js";
import { headlines } from "./headline.js";
import { unique } from "./report.js";
import { rateFigure } from "./words.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").Subject} Subject */
/** @typedef {import("./report.js").ClassGroup} ClassGroup */
/**
 * @typedef {"ahead" | "level" | "behind" | "uncompared"} Place `ahead`: of all others that were compared;
 * `level`: not behind any, with others of which this is true
 */

/**
 * Returns the rate that stands for a workload, if a system has it.
 * @param {Report} report
 * @param {Subject} subject
 * @param {string} workload
 */
export function rateOf(report, subject, workload) {
  return headlines(report, subject, workload).find(({ figure }) => figure === rateFigure(workload)) ?? null;
}

/**
 * Returns the places of the systems of one result that have a rate. Empty if no two of them were compared.
 * @param {Report} report
 * @param {ClassGroup} group
 * @param {import("./result.js").Result} result
 * @param {string} workload
 * @returns {Map<Subject, Place>}
 */
export function places(report, group, result, workload) {
  const pairs = comparisonsOf(report, group.key, workload).filter(({ figure, a, b, verdict }) =>
    figure === rateFigure(workload) && a.result === result && b.result === result && verdict !== "not_comparable");
  if (pairs.length === 0) return new Map();
  const compared = unique(pairs.flatMap(({ a, b }) => [a, b]));
  const behind = new Set(pairs.flatMap(({ a, b, verdict }) => (verdict === "no_difference" ? [] : [verdict === "a" ? b : a])));
  const isSole = compared.length - behind.size === 1;
  return new Map(members(report, group, result, workload).map((subject) => {
    if (!compared.includes(subject)) return [subject, "uncompared"];
    return [subject, behind.has(subject) ? "behind" : isSole ? "ahead" : "level"];
  }));
}

/**
 * Says who is ahead in each result. Empty for a system that is alone in its class.
 * @param {Report} report
 * @param {ClassGroup} group
 * @param {string} workload
 */
export function standingText(report, group, workload) {
  const sentences = report.results.map((result) => {
    if (members(report, group, result, workload).length < 2) return "";
    const all = places(report, group, result, workload);
    const named = (/** @type {Place} */ place) => [...all].filter(([, of]) => of === place).map(([{ name }]) => name);
    const apart = named("uncompared");
    return [leadText(named("ahead"), named("level"), named("behind")), apart.length > 0 && notComparedText(apart)].filter(Boolean).join(t("；", "; "));
  });
  return sentences.filter(Boolean).join(t("；", "; "));
}

/**
 * @param {string[]} ahead
 * @param {string[]} level
 * @param {string[]} behind
 */
function leadText(ahead, level, behind) {
  if (ahead.length > 0) return t(`${ahead[0]}领先`, `${ahead[0]} is ahead`);
  if (level.length === 0) return t("未比较：至少要五轮", "not compared: that takes five rounds");
  if (behind.length === 0) return t("没有差别", "no difference");
  return t(`${listText(level)}并列领先，彼此没有差别`, `${listText(level)} share the lead: no difference between them`);
}

/** @param {string[]} names */
function notComparedText(names) {
  return t(`${listText(names)}成功的轮数不够，未比较`, `${listText(names)} not compared, too few successful rounds`);
}

/** @param {string[]} names */
function listText(names) {
  return new Intl.ListFormat(t("zh-CN", "en-GB")).format(names);
}

/**
 * @param {Report} report
 * @param {ClassGroup} group
 * @param {import("./result.js").Result} result
 * @param {string} workload
 */
function members(report, group, result, workload) {
  return group.subjects.filter((subject) => subject.result === result && rateOf(report, subject, workload) !== null);
}
