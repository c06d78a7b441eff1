// The answer at a glance: the rate of every system under every workload.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { classTable } from "../class-table.js";
import { ABSENT, count, rounded } from "../number.js";
import { places, rateOf } from "../standing.js";
import { capital, rateText, workloadText } from "../words.js";
import { haveAlarms } from "./books.js";
import { section } from "./section.js";

/** @typedef {import("../report.js").Report} Report */
/** @typedef {import("../report.js").Subject} Subject */
/** @typedef {import("../standing.js").Place} Place */

/** @param {Report} report */
export function overview(report) {
  const workloads = report.workloads.filter((workload) => report.subjects.some((subject) => rateOf(report, subject, workload)));
  if (workloads.length < 2) return null;
  const columns = workloads.map((workload) => {
    const all = new Map(report.classes.flatMap((group) => report.results.flatMap((result) => [...places(report, group, result, workload)])));
    return {
      title: capital(workloadText(workload)), note: rateText(workload), all,
      cell: (/** @type {Subject} */ subject) => cell(report, subject, workload, all.get(subject)),
    };
  });
  return section("overview", t("一览", "Overview"),
    classTable(report, t("每秒请求数，各轮的中位数", "Requests per second, median of the rounds"), columns),
    h("p", { class: "quiet small" }, remark(columns.some(({ all }) => all.size > 0), report.classes.length > 1)));
}

/**
 * @param {Report} report
 * @param {Subject} subject
 * @param {string} workload
 * @param {Place} [place] none: nothing was compared
 */
function cell(report, subject, workload, place) {
  const rate = rateOf(report, subject, workload);
  const runs = report.runs.filter((one) => one.subject === subject && one.run.workload === workload);
  const failed = runs.filter(({ run }) => run.failure !== null).length;
  return [
    h("span", { class: place === "ahead" ? "best" : null }, rate ? rounded(rate.median) : ABSENT),
    rate && rate.low !== null && rate.high !== null
      && h("span", { class: "under" }, t(`${rounded(rate.low)}至${rounded(rate.high)}`, `${rounded(rate.low)} to ${rounded(rate.high)}`)),
    place && placeMark(place),
    haveAlarms(runs) && h("a", { class: "under bad", href: "#books" }, t("✗ 账目不对", "✗ books wrong")),
    failed > 0 && h("a", { class: "under bad", href: "#failures" },
      t(`${count(runs.length)}轮中${count(failed)}轮失败`, `${count(failed)} of ${count(runs.length)} failed`)),
  ];
}

/** @param {Place} place */
function placeMark(place) {
  switch (place) {
    case "ahead": return h("span", { class: "under best" }, t("▲ 领先", "▲ ahead"));
    case "level": return h("span", { class: "under" }, t("＝ 无差别", "= no difference"));
    case "uncompared": return h("span", { class: "under" }, t("未比较", "not compared"));
    case "behind": return null;
  }
}

/**
 * @param {boolean} hasComparisons
 * @param {boolean} hasClasses
 */
function remark(hasComparisons, hasClasses) {
  return [
    hasComparisons
      ? t("▲：领先同类中参与比较的所有系统。＝：与同类中最好的系统没有差别。小字的范围是中位数的区间。",
        "▲: ahead of every other system compared in its class. =: no difference from the best of its class. Small print: the interval of the median.")
      : t("至少要五轮才有区间和比较，所以这里没有标出领先的系统。",
        "Intervals and comparisons take five rounds, so no system is marked as ahead."),
    hasClasses && t("不同的类之间不排名次。", "Systems of different classes are not ranked against each other."),
  ].filter(Boolean).join(t("", " "));
}
