// The ledger checks after the runs, one row for each system. Zero is good; any other count is an alarm, except
// for orders that a system in memory loses with its process.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chip } from "../../parts/chip.js";
import { classTable } from "../class-table.js";
import { ABSENT, count, defined } from "../number.js";
import { unique } from "../report.js";
import { workloadText } from "../words.js";
import { section } from "./section.js";

/** @typedef {import("../report.js").Subject} Subject */
/** @typedef {import("../report.js").SubjectRun} SubjectRun */
/** @typedef {"lost_after_kill" | "oversold" | "bought_twice"} Defect */

/** @type {Defect[]} */
const DEFECTS = ["lost_after_kill", "oversold", "bought_twice"];
/** The name of a run whose kill failed. */
const KILL = "kill -9";

/** @param {import("../report.js").Report} report */
export function books(report) {
  const checked = report.runs.filter(isChecked);
  if (checked.length === 0) return null;
  const of = (/** @type {Subject} */ subject) => checked.filter((one) => one.subject === subject);
  const found = report.subjects.flatMap((subject) => unique(checked.map(({ run }) => run.workload)).flatMap((workload) => findings(subject, workload, of(subject).filter(({ run }) => run.workload === workload))))
    .sort((a, b) => Number(b.isAlarm) - Number(a.isAlarm));
  const failedKills = (/** @type {Subject} */ subject) => report.runs.filter((one) => one.subject === subject && one.run.workload === KILL).length;
  return section("books", t("账目", "Books"),
    found.length > 0
      ? h("ul", { class: "stack" }, found.map(({ isAlarm, text }) => h("li", { class: isAlarm ? "notice bad" : "notice warn" }, h("strong", null, text))))
      : h("p", { class: "notice good" }, t(
        `核对了${count(checked.length)}轮：没有超卖、重复购买或丢单。`,
        `Runs checked: ${count(checked.length)}. Nothing was oversold, bought twice or lost.`)),
    classTable(report, t("账目核对，各轮合计", "Ledger checks, all rounds together"), [
      ...DEFECTS.map((defect) => ({
        title: defectTitle(defect),
        cell: (/** @type {Subject} */ subject) => [
          defectCell(of(subject), defect),
          defect === "lost_after_kill" && failedKills(subject) > 0 && h("a", { class: "under bad", href: "#failures" }, t(`${count(failedKills(subject))}轮没测成`, `${count(failedKills(subject))} failed`)),
        ],
      })),
      { title: t("账目", "Books"), cell: (subject) => balanceCell(of(subject)) },
      { title: t("核对的轮数", "Runs checked"), cell: (subject) => count(of(subject).length) },
    ]),
    h("p", { class: "quiet small" }, t(
      "0是唯一的好结果。强杀后丢单：已接受的订单，在kill -9并重启后不见了；超卖：接受的订单多于库存；重复购买：一人得到多份。“–”表示没有核对。",
      "Only 0 is good. Lost after kill -9: accepted orders missing after a kill and restart. Oversold: accepted orders above the stock. Bought twice: further units of one user. “–”: not checked.")));
}

/**
 * Returns the number of defects of a system in all its runs, or `null` if unchecked.
 * @param {SubjectRun[]} runs
 * @param {Defect} defect
 */
function defects(runs, defect) {
  const counts = defined(runs.map(({ run }) => run.books[defect]));
  return counts.length === 0 ? null : counts.reduce((sum, one) => sum + one, 0);
}

/**
 * Returns whether the books of any run show a defect that the system's class excludes.
 * @param {SubjectRun[]} runs
 */
export function haveAlarms(runs) {
  return unique(runs.map(({ subject }) => subject)).some((subject) =>
    findings(subject, "", runs.filter((one) => one.subject === subject)).some(({ isAlarm }) => isAlarm));
}

/** @param {SubjectRun} subjectRun */
function isChecked({ run }) {
  return run.books.balance !== null || DEFECTS.some((defect) => run.books[defect] !== null);
}

/**
 * @param {Subject} subject
 * @param {string} workload
 * @param {SubjectRun[]} runs of both
 */
function findings({ name, system }, workload, runs) {
  const place = t(`${name}，${workloadText(workload)}`, `${name}, ${workloadText(workload)}`);
  const found = DEFECTS.flatMap((defect) => {
    const number = defects(runs, defect) ?? 0;
    if (number === 0) return [];
    const text = `${place}${t("：", ": ")}${defectText(defect, number)}`;
    const isExpected = defect === "lost_after_kill" && system.class.durable === "memory";
    return [isExpected
      ? { isAlarm: false, text: t(`${text}。这一类系统只在内存里保存已接受的订单，允许丢单。`, `${text}. The class allows this: accepted orders are in memory only.`) }
      : { isAlarm: true, text: t(`严重：${text}。`, `Alarm: ${text}.`) }];
  });
  if (runs.some(({ run }) => run.books.balance === false)) {
    found.push({ isAlarm: true, text: t(`严重：${place}：账目不平。`, `Alarm: ${place}: the books do not balance.`) });
  }
  return found;
}

/** @param {Defect} defect */
function defectTitle(defect) {
  switch (defect) {
    case "lost_after_kill": return t("强杀后丢单", "Lost after kill -9");
    case "oversold": return t("超卖", "Oversold");
    case "bought_twice": return t("重复购买", "Bought twice");
  }
}

/**
 * @param {Defect} defect
 * @param {number} number
 */
function defectText(defect, number) {
  const units = number === 1 ? "unit" : "units";
  switch (defect) {
    case "lost_after_kill": return t(`强杀后丢了${count(number)}单`, `${count(number)} accepted ${number === 1 ? "order" : "orders"} lost after kill -9`);
    case "oversold": return t(`超卖${count(number)}份`, `${count(number)} ${units} oversold`);
    case "bought_twice": return t(`重复购买${count(number)}份`, `${count(number)} ${units} bought twice`);
  }
}

/**
 * @param {SubjectRun[]} runs
 * @param {Defect} defect
 */
function defectCell(runs, defect) {
  const number = defects(runs, defect);
  if (number === null) return ABSENT;
  return chip(`${number === 0 ? "✓" : "✗"} ${count(number)}`, number === 0 ? "good" : "bad");
}

/** @param {SubjectRun[]} runs */
function balanceCell(runs) {
  const balances = runs.map(({ run }) => run.books.balance).filter((balance) => balance !== null);
  if (balances.length === 0) return ABSENT;
  return balances.every(Boolean) ? chip(t("✓ 平", "✓ balance"), "good") : chip(t("✗ 不平", "✗ do not balance"), "bad");
}
