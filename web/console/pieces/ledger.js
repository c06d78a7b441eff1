// The ledger of a sale as an equation: units supplied equal units accounted for.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { icon } from "../../parts/icons.js";

/**
 * The counted terms. Unlimited sales have neither `initial` nor `remaining`.
 * @typedef {object} Ledger
 * @property {number} [initial]
 * @property {number} added
 * @property {number} [remaining]
 * @property {number} pending
 * @property {number} unpaid
 * @property {number} paid
 * @property {number} used
 * @property {number} refunding
 * @property {number} deadLetters
 * @property {number} offered units on their way to people of the waiting list
 */
/** @typedef {{term: string, expected: string, found: string}} Finding */

/** @param {{books: Ledger, balances?: boolean, findings?: Finding[]}} account */
export function ledger({ books: terms, balances, findings = [] }) {
  const supplied = [
    { name: t("初始", "initial"), value: terms.initial },
    { name: t("追加", "added"), value: terms.added },
  ];
  const accounted = [
    { name: t("剩余", "remaining"), value: terms.remaining },
    { name: t("待写入", "pending"), value: terms.pending },
    { name: t("未支付", "unpaid"), value: terms.unpaid },
    { name: t("已支付", "paid"), value: terms.paid },
    { name: t("已核销", "used"), value: terms.used },
    { name: t("退款中", "refunding"), value: terms.refunding },
    { name: t("死信", "dead letters"), value: terms.deadLetters },
    // For a second at the most.
    { name: t("候补中", "offered"), value: terms.offered || undefined },
  ];
  const isUnlimited = terms.initial === undefined;
  return [
    h("div", { class: "equation" },
      isUnlimited ? h("span", { class: "term" }, h("strong", null, "∞"), h("span", null, t("不限量", "unlimited"))) : termList(supplied),
      h("span", { class: "equals" }, isUnlimited ? "→" : balances === false ? "≠" : "="),
      termList(accounted.filter(({ value }) => value !== undefined))),
    balanceNotice(balances, isUnlimited, total(supplied), total(accounted)),
    findings.map(({ term, expected, found: is }) =>
      h("p", { class: "notice bad small" }, t(`${term}：应为 ${expected}，实为 ${is}`, `${term}: should be ${expected}, is ${is}`))),
  ].flat();
}

/** @typedef {{name: string, value: number | undefined}} Term */

/** @param {Term[]} terms */
function termList(terms) {
  return terms.flatMap(({ name, value = 0 }, index) => [
    index > 0 && h("span", { class: "plus" }, value < 0 ? "−" : "+"),
    h("span", { class: value === 0 ? "term none" : "term" },
      h("strong", { class: "number" }, Math.abs(value).toLocaleString()), h("span", null, name)),
  ]);
}

/** @param {Term[]} terms */
function total(terms) {
  return terms.reduce((all, { value = 0 }) => all + value, 0).toLocaleString();
}

/**
 * @param {boolean | undefined} balances
 * @param {boolean} isUnlimited
 * @param {string} given
 * @param {string} found
 */
function balanceNotice(balances, isUnlimited, given, found) {
  if (balances === undefined) {
    return h("p", { class: "notice", role: "status" }, icon("clock"), t("账目正在变动，稍后再看。", "The ledger is changing and is read again in a moment."));
  }
  if (!balances) return h("p", { class: "notice bad", role: "status" }, icon("warn"), isUnlimited
    ? t("账目不平。", "The ledger does not balance.") : t(`账目不平：${given} 与 ${found}`, `The ledger does not balance: ${given} and ${found}`));
  return h("p", { class: "notice good", role: "status" }, icon("check"), isUnlimited
    ? t(`账目平衡：抢到的 ${found} 份都有着落。`, `The ledger balances: all ${found} units taken are accounted for.`)
    : t(`账目平衡：${given} = ${found}`, `The ledger balances: ${given} = ${found}`));
}
