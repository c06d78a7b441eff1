// The field of a phone number.

import { t } from "../core/language.js";
import { field } from "./field.js";

/** The server's rule for phone numbers. */
const PHONE = /^1[3-9]\d{9}$/;

/**
 * @typedef {import("./field.js").Field<HTMLInputElement> & {number: () => string, validNumber: () => string | null}} PhoneField
 * `number`: the number typed so far; `validNumber`: the number if valid, otherwise shows an error
 */

/**
 * @param {import("../core/dom.js").Attributes} [attributes]
 * @returns {PhoneField}
 */
export function phoneField(attributes) {
  const base = field(t("手机号", "Phone number"), "input", {
    type: "tel", inputmode: "numeric", autocomplete: "username", maxlength: 11, required: true, ...attributes,
  });
  return { ...base, number, validNumber };

  function number() {
    return base.input.value.trim();
  }

  function validNumber() {
    const isRight = PHONE.test(number());
    base.wrong(isRight ? "" : t("请输入11位手机号", "Enter an 11-digit mobile number"));
    return isRight ? number() : null;
  }
}
