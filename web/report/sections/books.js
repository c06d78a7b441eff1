// The ledger checks after the runs. Zero is good; any other count is an alarm.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chip } from "../../parts/chip.js";
import { ABSENT, count, defined } from "../number.js";
import { numberColumn, table } from "../table.js";
import { capital, workloadText } from "../words.js";
import { section } from "./section.js";

/** @typedef {import("../report.js").SubjectRun} SubjectRun */
/** @typedef {"oversold" | "bought_twice" | "lost_after_kill"} Defect */
/** @typedef {{name: string, workload: string, runs: SubjectRun[]}} Row */

/** @type {Defect[]} */
const DEFECTS = ["oversold", "bought_twice", "lost_after_kill"];

/** @param {import("../report.js").Report} report */
export function books({ subjects, runs, workloads }) {
  const checked = runs.filter(isChecked);
  if (checked.length === 0) return null;
  const rows = subjects.flatMap((subject) => workloads.map((workload) => ({
    name: subject.name, workload, runs: checked.filter((one) => one.subject === subject && one.run.workload === workload),
  }))).filter((row) => row.runs.length > 0);
  const alarms = rows.flatMap(alarmsOf);
  const columns = [
    { title: t("系统", "System"), cell: (/** @type {Row} */ { name }) => name, look: /** @type {const} */ ("name") },
    ...DEFECTS.map((defect) => numberColumn(capital(defectText(defect)), (/** @type {Row} */ row) => defectCell(row, defect))),
    { title: t("账目", "Ledger"), cell: balanceCell, look: /** @type {const} */ ("text") },
    { title: t("负载", "Workload"), cell: (/** @type {Row} */ { workload }) => workloadText(workload), look: /** @type {const} */ ("text") },
    numberColumn(t("核对的轮数", "Runs checked"), (/** @type {Row} */ row) => count(row.runs.length)),
  ];
  return section("books", t("账目", "Books"),
    alarms.length > 0
      ? h("ul", { class: "stack" }, alarms.map((text) => h("li", { class: "notice bad" }, h("strong", null, text))))
      : h("p", { class: "notice good" }, t(
        `核对了${count(checked.length)}轮：没有超卖、重复购买或丢单。`,
        `Runs checked: ${count(checked.length)}. Nothing was oversold, bought twice or lost.`)),
    table(t("账目核对", "Ledger checks"), columns, rows),
    h("p", { class: "quiet small" }, t(
      "0是唯一的好结果。超卖：接受的订单多于库存；重复购买：一人得到多份；强杀后丢失：已接受，强杀重启后却不见了。“–”表示没有核对。",
      "Only 0 is good. Oversold: accepted orders above the stock. Bought twice: further units of one user. Lost after a kill: accepted, but missing after a kill and restart. “–”: not checked.")));
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
 * Returns whether the books of any run show a defect.
 * @param {SubjectRun[]} runs
 */
export function haveDefects(runs) {
  return DEFECTS.some((defect) => (defects(runs, defect) ?? 0) !== 0) || runs.some(({ run }) => run.books.balance === false);
}

/** @param {SubjectRun} subjectRun */
function isChecked({ run }) {
  return run.books.balance !== null || DEFECTS.some((defect) => run.books[defect] !== null);
}

/** @param {Row} row */
function alarmsOf({ name, workload, runs }) {
  const place = t(`${name}，${workloadText(workload)}`, `${name}, ${workloadText(workload)}`);
  const found = DEFECTS.flatMap((defect) => {
    const number = defects(runs, defect) ?? 0;
    return number === 0 ? [] : [t(`严重：${place}：${defectText(defect)}${count(number)}份。`, `Alarm: ${place}: ${count(number)} ${number === 1 ? "unit" : "units"} ${defectText(defect)}.`)];
  });
  if (runs.some(({ run }) => run.books.balance === false)) {
    found.push(t(`严重：${place}：账目不平。`, `Alarm: ${place}: the ledger does not balance.`));
  }
  return found;
}

/** @param {Defect} defect */
function defectText(defect) {
  switch (defect) {
    case "oversold": return t("超卖", "oversold");
    case "bought_twice": return t("重复购买", "bought twice");
    case "lost_after_kill": return t("强杀后丢失", "lost after a kill");
  }
}

/**
 * @param {Row} row
 * @param {Defect} defect
 */
function defectCell({ runs }, defect) {
  const number = defects(runs, defect);
  if (number === null) return ABSENT;
  return chip(`${number === 0 ? "✓" : "✗"} ${count(number)}`, number === 0 ? "good" : "bad");
}

/** @param {Row} row */
function balanceCell({ runs }) {
  const balances = runs.map(({ run }) => run.books.balance).filter((balance) => balance !== null);
  if (balances.length === 0) return ABSENT;
  return balances.every(Boolean) ? chip(t("✓ 平", "✓ balances"), "good") : chip(t("✗ 不平", "✗ does not balance"), "bad");
}
