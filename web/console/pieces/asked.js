// Asks for a reason before something is done to somebody.

import { t } from "../../core/language.js";
import { h } from "../../core/dom.js";
import { field } from "../../parts/field.js";
import { formSheet } from "./form.js";

/**
 * @param {string} title
 * @param {string} text what will happen
 * @param {string} yes what the button says that does it
 * @param {(reason: string) => unknown} act
 * @param {string} [no] label of the button that cancels
 */
export function askedWhy(title, text, yes, act, no) {
  const reason = field(t("原因（写进审计日志）", "Reason, for the audit log"), "input", { maxlength: 200, required: true });
  return formSheet(title, [{ field: reason, names: ["原因", "reason"] }], yes, () => act(reason.input.value), { before: [h("p", null, text)], no, danger: true });
}
