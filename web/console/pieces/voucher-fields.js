// The fields of a voucher, new or existing.

import { t } from "../../core/language.js";
import { parseCents, formatYuanInput } from "../../core/money.js";
import { field } from "../../parts/field.js";

/** @typedef {{title: string, subTitle: string, rules: string, payValue: number, actualValue: number}} VoucherText prices in cents */

/**
 * @param {Partial<VoucherText>} [voucher]
 * @returns {{fields: import("./form.js").FormField[], values: () => Partial<VoucherText> | null}} `values`:
 * null if a price is invalid
 */
export function voucherFields(voucher = {}) {
  const title = field(t("标题", "Title"), "input", { maxlength: 255, required: true, value: voucher.title });
  const subTitle = field(t("副标题", "Subtitle"), "input", { maxlength: 255, value: voucher.subTitle });
  const rules = field(t("使用规则（每行一条）", "Terms of use, one per line"), "textarea", { maxlength: 1024, rows: 4 }, voucher.rules);
  const pay = money(t("支付金额（元）", "Price (yuan)"), voucher.payValue);
  const actual = money(t("抵扣金额（元）", "Value (yuan)"), voucher.actualValue);
  rules.root.classList.add("all");
  return {
    fields: [
      { field: title, names: ["标题", "title"] },
      { field: subTitle, names: ["副标题", "subTitle"] },
      { field: pay, names: ["支付金额", "payValue"] },
      { field: actual, names: ["抵扣金额", "actualValue"] },
      { field: rules, names: ["使用规则", "rules"] },
    ],
    values: () => {
      const isAmount = [pay, actual].every(({ input, wrong }) => {
        const is = !Number.isNaN(parseCents(input.value));
        if (!is) wrong(t("请填金额，例如 9.9", "Enter an amount, such as 9.9"));
        return is;
      });
      return isAmount ? {
        title: title.input.value, subTitle: subTitle.input.value, rules: rules.input.value,
        payValue: parseCents(pay.input.value), actualValue: parseCents(actual.input.value),
      } : null;
    },
  };
}

/**
 * @param {string} label
 * @param {number} [cents]
 */
function money(label, cents) {
  return field(label, "input", { inputmode: "decimal", required: true, value: cents === undefined ? "" : formatYuanInput(cents) });
}
