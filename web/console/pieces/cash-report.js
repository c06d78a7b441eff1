// X and Z reports: their lines, and the dialog that prints them.

import { get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { fact } from "../../parts/fact.js";
import { formatYuan } from "../../parts/price.js";
import { openSheet } from "../../parts/sheet.js";
import { tillName } from "./cash-till.js";
import { printerButton } from "./printer.js";
import { timestamp } from "./timestamp.js";

/** @typedef {{id: number, name: string}} Person */
/**
 * @typedef {{number: number, kind: "in" | "out", amount: number, reason: string, time: string, by: Person}} Move
 */
/**
 * A session of `GET /ops/cash`. Amounts are in cents.
 * @typedef {object} Session
 * @property {number} id
 * @property {string} till
 * @property {string} openTime
 * @property {Person} openedBy
 * @property {number} float
 * @property {number} sales
 * @property {number} saleCount
 * @property {number} refunds
 * @property {number} refundCount
 * @property {number} paidIn
 * @property {number} paidInCount
 * @property {number} paidOut
 * @property {number} paidOutCount
 * @property {number} expected
 * @property {string} [firstPaymentTime]
 * @property {string} [lastPaymentTime]
 * @property {Move[]} moves
 */
/**
 * @typedef {Session & {number: number, closeTime: string, closedBy: Person, counted: number, difference: number, digest: string}} ZReport
 * of `GET /ops/cash/reports`
 */

/**
 * Formats a difference with its sign.
 * @param {number} cents
 */
export function signedYuan(cents) {
  const sign = cents < 0 ? "−" : cents > 0 ? "+" : "";
  return sign + formatYuan(Math.abs(cents));
}

/** @param {number} difference in cents */
export function differenceText(difference) {
  if (difference === 0) return t("账实相符", "The drawer balances");
  const sum = formatYuan(Math.abs(difference));
  return difference < 0 ? t(`短款 ${sum}`, `${sum} short`) : t(`长款 ${sum}`, `${sum} over`);
}

/** @param {Person} person */
function personName({ id, name }) {
  return name || t(`用户${id}`, `user ${id}`);
}

/**
 * Returns the sums of a session as rows of a list.
 * @param {Session} session
 */
export function sessionFacts(session) {
  const { float, sales, saleCount, refunds, refundCount, paidIn, paidInCount, paidOut, paidOutCount } = session;
  const counted = (/** @type {string} */ zh, /** @type {string} */ en, /** @type {number} */ count) => t(`${zh}（${count}笔）`, `${en} (${count})`);
  return h("dl", { class: "counts cash-counts" },
    fact(t("备用金", "Float"), formatYuan(float)),
    fact(counted("现金收款", "Cash sales", saleCount), signedYuan(sales)),
    fact(counted("现金退款", "Cash refunds", refundCount), signedYuan(-refunds)),
    fact(counted("存入", "Paid in", paidInCount), signedYuan(paidIn)),
    fact(counted("支出", "Paid out", paidOutCount), signedYuan(-paidOut)),
    fact(t("应有现金", "Expected"), h("strong", null, formatYuan(session.expected))));
}

/** @param {Move[]} moves */
export function moveList(moves) {
  if (moves.length === 0) return null;
  return h("ul", { class: "cash-moves small", "aria-label": t("存入和支出", "Paid in and out") }, moves.map(({ kind, amount, reason, time, by }) =>
    h("li", null, h("span", { class: "grow" }, reason, h("span", { class: "quiet detail" }, timestamp(time), " · ", personName(by))),
      h("span", { class: "number" }, signedYuan(kind === "in" ? amount : -amount)))));
}

/**
 * Reads the session anew, and shows the report.
 * @param {{id: number}} session
 */
export async function openXReport({ id }) {
  /** @type {Session & {reportTime: string}} */
  const session = await get(`/ops/cash/${id}`);
  void openSheet(t("X报表（未交班）", "X report (running)"), (close) => [
    h("div", { class: "cash-report stack" }, opening(session),
      h("dl", { class: "counts" }, fact(t("报表时间", "As of"), timestamp(session.reportTime))), sessionFacts(session), payments(session), moveList(session.moves), notice()),
    printButtons(`/ops/cash/${session.id}/print`, close)]);
}

/** @param {ZReport} report */
export function openZReport(report) {
  void openSheet(t(`Z报表 ${report.number}`, `Z report ${report.number}`), (close) => [
    h("div", { class: "cash-report stack" }, opening(report),
      h("dl", { class: "counts" }, fact(t("交班", "Closed"), timestamp(report.closeTime)), fact(t("交班人", "Closed by"), personName(report.closedBy))),
      sessionFacts(report),
      h("dl", { class: "counts" }, fact(t("实点现金", "Counted"), formatYuan(report.counted)), fact(t("差额", "Difference"), h("strong", null, signedYuan(report.difference)))),
      payments(report), moveList(report.moves),
      h("p", { class: "small quiet" }, t("摘要 ", "Digest "), h("span", { class: "mono hash" }, report.digest)), notice()),
    printButtons(`/ops/cash/reports/${report.number}/print`, close)]);
}

/** @param {Session} session */
function opening({ till, id, openTime, openedBy }) {
  return h("dl", { class: "counts" },
    fact(t("收银台", "Till"), tillName(till)), fact(t("班次", "Session"), String(id)),
    fact(t("开班", "Opened"), timestamp(openTime)), fact(t("开班人", "Opened by"), personName(openedBy)));
}

/** @param {Session} session */
function payments({ firstPaymentTime, lastPaymentTime }) {
  if (!firstPaymentTime) return null;
  return h("dl", { class: "counts" }, fact(t("首笔", "First payment"), timestamp(firstPaymentTime)), fact(t("末笔", "Last payment"), timestamp(lastPaymentTime)));
}

function notice() {
  return h("p", { class: "small quiet" }, t("非税控设备出具，不作报税凭据。", "Not from a fiscal device."));
}

/**
 * @param {string} path prints on the receipt printer
 * @param {() => void} close
 */
function printButtons(path, close) {
  return h("div", { class: "buttons row wrap" }, button(t("关闭", "Close"), close),
    printerButton(t("打印到小票机", "Receipt printer"), path, t("报表已打印", "Report printed")),
    button(t("打印", "Print"), () => print(), { icon: "print", look: ["main"] }));
}
