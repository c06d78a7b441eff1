// Money at the counter: dialogs that record payments and refunds.

import { call } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { field } from "../../parts/field.js";
import { formatYuan } from "../../parts/price.js";
import { showToast } from "../../parts/toast.js";
import { currentTill } from "./cash-till.js";
import { formSheet } from "./form.js";
import { InDoubtError } from "./in-doubt-error.js";
import { isRedemptionInDoubt } from "./redemption.js";

/** @typedef {import("./order-columns.js").Order} Order */
/** @typedef {Order & {recordedBefore: boolean}} Recorded `recordedBefore`: recorded earlier, nothing changed */

const [UNPAID, PAID, REFUNDING] = [1, 2, 5];

/** @param {Order} order */
export function isPayableAtCounter({ payment, status }) {
  return payment === "counter" && status === UNPAID;
}

/** @param {Order} order */
export function isRefundableAtCounter({ payment, status }) {
  return payment === "counter" && [PAID, REFUNDING].includes(status);
}

/**
 * Asks how the buyer paid, and records the payment.
 * @param {Order} order
 * @param {(order: Order) => void} onPaid
 */
export function askPayment(order, onPaid) {
  const sum = formatYuan(order.payValue);
  const method = methodField();
  const send = recorder(order, "pay", t("这张订单之前已经登记过收款，请勿重复收款。", "This payment was recorded before: take no more money."));
  return formSheet(t("柜台收款", "Payment at the counter"), [method], t(`已收 ${sum}`, `${sum} received`), async () => {
    onPaid(await send({ method: method.field.input.value }));
  }, { before: [h("p", null, t(`先收下 ${sum}，再登记。`, `Take ${sum} first, then record the payment.`))] });
}

/**
 * Asks for the reason, and records that the money was handed back.
 * @param {Order} order
 * @param {(order: Order) => void} onRefunded
 */
export function askRefund(order, onRefunded) {
  const sum = formatYuan(order.payValue);
  const method = methodField();
  const reason = { field: field(t("原因（写进审计日志）", "Reason, for the audit log"), "input", { maxlength: 200, required: true }), names: ["原因", "reason"] };
  const send = recorder(order, "refund", t("这张订单之前已经登记过退款，请勿重复付钱。", "This refund was recorded before: hand out no more money."));
  return formSheet(t("柜台退款", "Refund at the counter"), [method, reason], t(`退还 ${sum}`, `Refund ${sum}`), async () => {
    onRefunded(await send({ method: method.field.input.value, reason: reason.field.input.value }));
  }, {
    before: [h("p", null, t(`登记成功后再把 ${sum} 交给买家。券码作废，占用的名额还给库存。`, `Hand out ${sum} once the refund is recorded. The code becomes invalid, and the unit returns to the stock.`))],
    no: t("保留订单", "Keep the order"), danger: true,
  });
}

/** Returns the field with the ways of paying. */
export function methodField() {
  const options = [h("option", { value: "cash" }, t("现金", "Cash")), h("option", { value: "terminal" }, t("自有收款终端", "Own terminal"))];
  return { field: field(t("收款方式", "By"), "select", {}, ...options), names: ["收款方式", "method"] };
}

/**
 * Returns the call that records a step, repeatable while in doubt.
 * @param {Order} order
 * @param {"pay" | "refund"} step
 * @param {string} warning for a step recorded before by somebody else
 */
function recorder(order, step, warning) {
  let isInDoubt = false;
  return async (/** @type {object} */ body) => {
    try {
      /** @type {Recorded} */
      const recorded = (await call("POST", `/ops/orders/${order.id}/${step}`, { body: { amount: order.payValue, till: currentTill(), ...body } })).data;
      if (recorded.recordedBefore && !isInDoubt) showToast(warning, { bad: true });
      else showToast(step === "pay" ? t("已登记收款", "Payment recorded") : t("已登记退款", "Refund recorded"));
      return recorded;
    } catch (error) {
      if (!isRedemptionInDoubt(error)) throw error;
      isInDoubt = true;
      throw new InDoubtError(error, t("无法确认是否已登记。可以再按一次，不会重复登记。", "The result is unknown. Press again to check; nothing is recorded twice."));
    }
  };
}
