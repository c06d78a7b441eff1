// A dialog that asks for the reason of an action.

import { t } from "../../core/language.js";
import { h } from "../../core/dom.js";
import { field } from "../../parts/field.js";
import { formSheet } from "./form.js";

/**
 * @param {string} title
 * @param {string} text the consequence
 * @param {string} yes label of the confirming button
 * @param {(reason: string) => unknown} action
 * @param {string} [no] label of the button that cancels
 */
export function askReason(title, text, yes, action, no) {
  const reason = field(t("原因（写进审计日志）", "Reason, for the audit log"), "input", { maxlength: 200, required: true });
  return formSheet(title, [{ field: reason, names: ["原因", "reason"] }], yes, () => action(reason.input.value), { before: [h("p", null, text)], no, danger: true });
}
