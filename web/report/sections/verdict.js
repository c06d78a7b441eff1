// The verdict: headline figures and comparisons, by class.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chip } from "../../parts/chip.js";
import { lookSample } from "../chart/look.js";
import { comparisonText, comparisonsOf } from "../comparisons.js";
import { workloadDisclosure } from "../disclosure.js";
import { figureBars } from "../figure-bars.js";
import { headlines } from "../headline.js";
import { ABSENT, count, formatOf, rounded } from "../number.js";
import { unique } from "../report.js";
import { places, rateOf, standingText } from "../standing.js";
import { numberColumn, table } from "../table.js";
import { capital, classText, figureText, placeText, rateText, workloadText } from "../words.js";
import { haveAlarms } from "./books.js";
import { isCost } from "./cost.js";
import { definitions, panels, section } from "./section.js";

/** @typedef {import("../report.js").Report} Report */
/** @typedef {import("../report.js").Subject} Subject */
/** @typedef {import("../report.js").ClassGroup} ClassGroup */
/** @typedef {import("../headline.js").Headline} Headline */
/** @typedef {{subject: Subject, headlines: Headline[]}} Row */

/** More comparisons than this are behind a disclosure. */
const MAX_OPEN_COMPARISONS = 8;

/** @param {Report} report */
export function verdict(report) {
  const groups = report.classes.flatMap((group) => classBlock(report, group));
  if (groups.length === 0) return null;
  return section("verdict", t("结论", "Verdict"),
    groups.length > 1 && h("p", { class: "notice" }, t(
      "只在同一类系统之内比较。不同的类承诺不同：断电不丢的订单要等磁盘同步，不作这个承诺的系统更快，并不说明它更好。",
      "Systems are compared within a class only. The classes promise different things: an order that survives power loss waits for a disk sync, and a system without that promise is not better for being faster.")),
    groups);
}

/**
 * @param {Report} report
 * @param {ClassGroup} group
 */
function classBlock(report, group) {
  if (group.subjects.length === 1 && report.workloads.length > 1) return aloneBlock(report, group);
  const blocks = report.workloads.flatMap((workload) => {
    const rows = group.subjects.map((subject) => ({ subject, headlines: headlines(report, subject, workload) }));
    if (rows.every((row) => row.headlines.length === 0)) return [];
    return [report.workloads.length > 1
      ? workloadDisclosure(workload, "h4", true, summary(report, group, workload), workloadBlock(report, group, workload, rows.map(withoutCostBars)))
      : workloadBlock(report, group, workload, rows)];
  });
  return blocks.length === 0 ? [] : [titledBlock(group, blocks)];
}

/**
 * Returns the figures of the only system of a class under several workloads.
 * @param {Report} report
 * @param {ClassGroup} group
 */
function aloneBlock(report, group) {
  const [subject] = group.subjects;
  const rows = report.workloads.map((workload) => ({ workload, headlines: headlines(report, subject, workload) })).filter((row) => row.headlines.length > 0);
  if (rows.length === 0) return [];
  return [titledBlock(group, [
    h("p", null, t(`这一类只有${subject.name}，没有可比较的系统。`, `${subject.name} is alone in this class, so there is nothing to compare.`)),
    report.workloads.map((workload) => doubts(report, subject, workload)).flat(),
    figureTable(t(`主要数据：${subject.name}`, `Headline figures: ${subject.name}`),
      { title: t("负载", "Workload"), cell: ({ workload }) => capital(workloadText(workload)), look: "name" }, rows),
  ])];
}

/**
 * @param {ClassGroup} group
 * @param {import("../../core/dom.js").Child[]} children
 */
function titledBlock(group, children) {
  return h("div", { class: "stack class-block" }, h("h3", null, t("类：", "Class: "), classText(group.class)), ...children);
}

/**
 * Says who is ahead, by the rates of all systems of a class.
 * @param {Report} report
 * @param {ClassGroup} group
 * @param {string} workload
 * @returns {import("../../core/dom.js").Leaf[]}
 */
function summary(report, group, workload) {
  const rates = group.subjects.flatMap((subject) => {
    const rate = rateOf(report, subject, workload);
    return rate ? [`${subject.name} ${rounded(rate.median)}`] : [];
  });
  const standing = standingText(report, group, workload);
  const isCompared = report.results.some((result) => places(report, group, result, workload).size > 0);
  const runs = report.runs.filter(({ subject, run }) => subject.classKey === group.key && run.workload === workload);
  return [
    standing && h("span", { class: isCompared ? "standing" : "quiet" }, standing),
    haveAlarms(runs) && chip(t("✗ 账目不对", "✗ books wrong"), "bad"),
    runs.some(({ run }) => run.failure !== null) && chip(t("✗ 有失败的运行", "✗ failed runs"), "bad"),
    rates.length > 0 && h("span", { class: "under" }, t(`每秒${rateText(workload)}：${rates.join("；")}`, `${capital(rateText(workload))} per second: ${rates.join("; ")}`)),
  ];
}

/**
 * @param {Report} report
 * @param {ClassGroup} group
 * @param {string} workload
 * @param {Row[]} rows
 */
function workloadBlock(report, group, workload, rows) {
  const shown = rows.filter((row) => row.headlines.length > 0);
  const place = placeText(workload, group.class, report.classes);
  const comparisons = comparisonsOf(report, group.key, workload);
  return h("div", { class: "stack" },
    rows.map(({ subject }) => doubts(report, subject, workload)),
    shown.length === 1 && rows.length === 1 ? tiles(shown[0], workload) : [bars(shown, place), headlineTable(rows, place)],
    comparisons.length > 0 && comparisonList(comparisons.map((one) => ({ verdict: one.verdict, text: comparisonText(one) })), workload));
}

/**
 * Leaves the bars of costs out: those of several workloads have their own tables.
 * @param {Row} row
 * @returns {Row}
 */
function withoutCostBars({ subject, headlines: figures }) {
  return { subject, headlines: figures.map((one) => ({ ...one, isMain: one.isMain && !isCost(one.figure) })) };
}

/**
 * @param {Row} row
 * @param {string} workload
 */
function tiles({ subject, headlines: figures }, workload) {
  return h("div", { class: "card pad stack" },
    h("h4", { class: "system-name" }, lookSample(subject.look), `${subject.name}${t("：", ": ")}${workloadText(workload)}`),
    definitions(figures.map((one) => [capital(figureText(one.figure)), [
      h("span", { class: one.isMain ? "figure main" : "figure" }, formatOf(one.figure)(one.median)),
      intervalText(one) && h("span", { class: "small quiet" }, intervalText(one)),
    ]]), "tiles"));
}

/**
 * @param {Row[]} rows
 * @param {string} place workload and class
 */
function bars(rows, place) {
  const figures = unique(rows.flatMap((row) => row.headlines.filter(({ isMain }) => isMain).map(({ figure }) => figure)));
  return panels(figures.map((figure) => figureBars(figure, place, rows.flatMap((row) => {
    const found = row.headlines.find((one) => one.figure === figure);
    return found ? [{ subject: row.subject, value: found.median, low: found.low, high: found.high }] : [];
  }))));
}

/**
 * @param {Row[]} rows
 * @param {string} place workload and class
 */
function headlineTable(rows, place) {
  return figureTable(t(`主要数据：${place}`, `Headline figures: ${place}`),
    { title: t("系统", "System"), cell: ({ subject }) => h("span", { class: "system-name" }, lookSample(subject.look), subject.name), look: "name" }, rows);
}

/**
 * @template {{headlines: Headline[]}} Item
 * @param {string} name
 * @param {import("../table.js").Column<Item>} heading
 * @param {Item[]} rows
 */
function figureTable(name, heading, rows) {
  const figures = unique(rows.flatMap((row) => row.headlines.map(({ figure }) => figure)));
  return table(name, [heading, ...figures.map((figure) => numberColumn(capital(figureText(figure)), (/** @type {Item} */ row) => {
    const found = row.headlines.find((one) => one.figure === figure);
    return found ? formatOf(figure)(found.median) : ABSENT;
  }))], rows);
}

/**
 * Returns what casts doubt on a system's figures: failed runs, and books that do not balance.
 * @param {Report} report
 * @param {Subject} subject
 * @param {string} workload
 */
function doubts(report, subject, workload) {
  const runs = report.runs.filter((one) => one.subject === subject && one.run.workload === workload);
  const failed = runs.filter(({ run }) => run.failure !== null).length;
  return [
    haveAlarms(runs) && h("p", { class: "notice bad" }, h("span", null, h("strong", null, subject.name), t("：账目不对，见", ": the books are wrong; see "), h("a", { href: "#books" }, t("账目", "Books")), t("。", "."))),
    failed > 0 && h("p", { class: "notice warn" }, h("span", null, h("strong", null, subject.name), t(
      `：${workloadText(workload)}的${count(runs.length)}轮中有${count(failed)}轮失败，见`, `: ${count(failed)} of ${count(runs.length)} runs of ${workloadText(workload)} failed; see `),
    h("a", { href: "#failures" }, t("失败的运行", "Failed runs")), t("。", "."))),
  ];
}

/**
 * @param {{verdict: string, text: string}[]} items
 * @param {string} workload
 */
function comparisonList(items, workload) {
  const list = h("ul", { class: "comparisons" }, items.map(({ verdict: decided, text }) => h("li", null, verdictChip(decided), h("span", null, text))));
  if (items.length <= MAX_OPEN_COMPARISONS) return list;
  return h("details", null, h("summary", null, t(`${workloadText(workload)}：${items.length}项比较`, `${capital(workloadText(workload))}: ${items.length} comparisons`)), list);
}

/** @param {string} decided */
function verdictChip(decided) {
  switch (decided) {
    case "a":
    case "b": return chip(t("领先", "ahead"), "accent");
    case "no_difference": return chip(t("无差别", "no difference"));
    default: return chip(t("不可比", "not comparable"));
  }
}

/** @param {Headline} headline */
function intervalText({ figure, low, high }) {
  if (low === null || high === null) return "";
  const format = formatOf(figure);
  return t(`区间${format(low)}至${format(high)}`, `interval ${format(low)} to ${format(high)}`);
}
