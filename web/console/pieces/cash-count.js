// The count of a drawer by denomination, and the closing of its session.

import { Refusal, call } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { parseCents } from "../../core/money.js";
import { newRequestId } from "../../core/request-id.js";
import { button, whileBusy } from "../../parts/button.js";
import { fact } from "../../parts/fact.js";
import { field } from "../../parts/field.js";
import { icon } from "../../parts/icons.js";
import { formatYuan } from "../../parts/price.js";
import { openSheet } from "../../parts/sheet.js";
import { errorMessage } from "../../parts/toast.js";
import { differenceText } from "./cash-report.js";
import { isRedemptionInDoubt } from "./redemption.js";

/** @typedef {import("./cash-report.js").Session} Session */
/** @typedef {import("./cash-report.js").ZReport} ZReport */

/** Notes and coins of the yuan, in cents. */
const DENOMINATIONS = [10_000, 5_000, 2_000, 1_000, 500, 100, 50, 10];
/** Pieces of one denomination that a drawer may hold. */
const PIECES_MAX = 100_000;

/**
 * Asks for the count, shows the difference, and closes the session after a second question.
 * @param {Session} session
 * @param {() => Promise<Session | undefined>} readAgain reads the session anew
 * @param {(report: ZReport) => void} onClosed
 */
export function countDrawer(session, readAgain, onClosed) {
  void openSheet(t("清点钱箱", "Count the drawer"), (close) => {
    const requestId = newRequestId();
    const count = countForm(session.expected, close, confirm);
    const place = h("div", { class: "stack" }, count.root);
    return [place];

    /** @param {number} counted */
    function confirm(counted) {
      const question = confirmation(session.expected, counted, () => {
        fill(place, count.root);
        count.focus();
      }, async () => {
        try {
          const body = { counted, expected: session.expected, requestId };
          const report = (await call("POST", `/ops/cash/${session.id}/close`, { body })).data;
          close();
          onClosed(report);
        } catch (error) {
          if (isRedemptionInDoubt(error)) return question.warn(`${errorMessage(error)} ${t("无法确认是否已交班，可以再按一次，不会重复交班。", "The result is unknown. Press again: the session is closed only once.")}`);
          if (!(error instanceof Refusal) || error.code !== "CASH_CHANGED") return question.warn(errorMessage(error));
          session = (await readAgain()) ?? session;
          count.expect(session.expected);
          fill(place, count.root);
          count.warn(error.message);
        }
      });
      fill(place, question.root);
      question.focus();
    }
  });
}

/**
 * @param {number} expected
 * @param {() => void} cancel
 * @param {(counted: number) => void} proceed
 */
function countForm(expected, cancel, proceed) {
  const pieces = DENOMINATIONS.map((value) => ({ value, field: field(denominationName(value), "input",
    { type: "number", inputmode: "numeric", min: 0, max: PIECES_MAX, step: 1, placeholder: "0", autocomplete: "off" }), sum: h("span", { class: "number quiet" }) }));
  const other = field(t("其他（元）", "Other, in yuan"), "input", { inputmode: "decimal", placeholder: "0", autocomplete: "off" });
  const total = h("dl", { class: "counts" });
  const warning = h("div", { class: "form-unsure", role: "alert" });
  const root = h("form", { class: "stack cash-count", novalidate: true, oninput: update, onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    fill(warning);
    const counted = sum();
    if (counted !== undefined) proceed(counted);
  } },
  h("p", { class: "quiet" }, t("逐项填写张数或枚数。", "Enter the number of notes and coins of each kind.")),
  h("div", { class: "cash-pieces" }, pieces.map((piece) => h("div", { class: "cash-piece" }, piece.field.root, piece.sum)), h("div", { class: "cash-piece" }, other.root, h("span"))),
  h("div", { role: "status" }, total), warning,
  h("div", { class: "buttons row" }, button(t("取消", "Cancel"), cancel), h("button", { type: "submit", class: "button main" }, t("核对", "Check"))));
  update();
  return {
    root,
    focus: () => pieces[0].field.input.focus(),
    expect(/** @type {number} */ cents) {
      expected = cents;
      update();
    },
    warn: (/** @type {string} */ text) => fill(warning, h("p", { class: "notice bad" }, icon("warn"), text)),
  };

  /** Returns the sum in cents, and shows what is wrong; `undefined` for an invalid number. */
  function sum() {
    let cents = 0;
    let isValid = true;
    for (const { value, field: one } of [...pieces].reverse()) {
      const number = one.input.validity.badInput ? NaN : Number(one.input.value);
      if (Number.isInteger(number) && number >= 0 && number <= PIECES_MAX) cents += number * value;
      else {
        isValid = false;
        one.wrong(t("请填写0到100000的整数", "Enter a whole number from 0 to 100000"));
      }
    }
    const rest = parseCents(other.input.value) ?? 0;
    if (Number.isNaN(rest)) {
      isValid = false;
      other.wrong(t("请填写金额，例如0.05", "Enter an amount, such as 0.05"));
    }
    return isValid ? cents + rest : undefined;
  }

  function update() {
    let cents = parseCents(other.input.value) || 0;
    for (const { value, field: one, sum: place } of pieces) {
      const sumOfKind = Math.max(0, Math.floor(Number(one.input.value) || 0)) * value;
      cents += sumOfKind;
      fill(place, sumOfKind > 0 ? formatYuan(sumOfKind) : "");
    }
    fill(total, fact(t("应有现金", "Expected"), formatYuan(expected)), fact(t("实点现金", "Counted"), h("strong", null, formatYuan(cents))), fact(t("差额", "Difference"), differenceText(cents - expected)));
  }
}

/**
 * Shows the difference once more, and asks.
 * @param {number} expected
 * @param {number} counted
 * @param {() => void} back
 * @param {() => Promise<void>} yes
 */
function confirmation(expected, counted, back, yes) {
  const warning = h("div", { class: "form-unsure", role: "alert" });
  const submit = h("button", { type: "button", class: "button main danger", onclick: () => {
    fill(warning);
    whileBusy(submit, yes);
  } }, t("确认交班", "Close the session"));
  const root = h("div", { class: "stack" },
    h("p", { class: counted === expected ? "notice good" : "notice bad" }, icon(counted === expected ? "check" : "warn"), h("strong", null, differenceText(counted - expected))),
    h("dl", { class: "counts" }, fact(t("应有现金", "Expected"), formatYuan(expected)), fact(t("实点现金", "Counted"), formatYuan(counted))),
    h("p", null, t("交班后生成Z报表，不能修改。", "Closing writes a Z report, which nobody can change.")), warning,
    h("div", { class: "buttons row" }, button(t("返回清点", "Count again"), back), submit));
  return {
    root,
    focus: () => submit.focus(),
    warn: (/** @type {string} */ text) => fill(warning, h("p", { class: "notice bad" }, icon("warn"), text)),
  };
}

/** @param {number} cents */
function denominationName(cents) {
  if (cents >= 100) return t(`${cents / 100}元`, `¥${cents / 100}`);
  return t(`${cents / 10}角`, `¥${cents / 100}`);
}
