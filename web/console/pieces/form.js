// Forms whose refusals by the server are shown beside the field concerned.

import { Refusal } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { whileBusy, button } from "../../parts/button.js";
import { t } from "../../core/language.js";
import { icon } from "../../parts/icons.js";
import { openSheet } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { keepFormDraft } from "./form-draft.js";
import { InDoubtError } from "./in-doubt-error.js";

/** @typedef {import("../../parts/field.js").Field<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>} Field */
/**
 * A field with its names in refusals, in both languages. `settled` waits for pending work, such as uploads,
 * and returns an error text or an empty one.
 * @typedef {{field: Field & {settled?: () => Promise<string>}, names: string[]}} FormField
 */

/**
 * @param {FormField[]} fields
 * @param {string} text of the button
 * @param {() => unknown} send returns `false` if nothing was sent
 * @param {{inside?: Node[], cancel?: () => void, no?: string, keeps?: boolean, danger?: boolean}} [options] `inside`:
 * content, by default the fields; `keeps`: restores unsent input when the screen renders anew; `no`: label of
 * the cancel button; `danger`: sending cannot be undone
 */
export function form(fields, text, send, { inside = fields.map(({ field }) => field.root), cancel, no = t("取消", "Cancel"), keeps = false, danger = false } = {}) {
  const submit = h("button", { type: "submit", class: danger ? "button main danger" : "button main" }, text);
  // Stays visible, with instructions.
  const inDoubtNotice = h("div", { class: "form-unsure", role: "alert" });
  const root = h("form", { class: "stack", novalidate: true, onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    whileBusy(submit, submitForm);
  } }, inside, inDoubtNotice, h("div", { class: "buttons row" }, cancel && button(no, cancel), submit));
  const discardDraft = keeps ? keepFormDraft(root) : undefined;
  return root;

  /** Waits for all fields; returns whether all are valid. */
  async function whenReady() {
    const errors = await Promise.all(fields.map(async ({ field }) => {
      const text = (await field.settled?.()) ?? "";
      if (text) field.wrong(text);
      return text;
    }));
    return errors.every((text) => text === "");
  }

  async function submitForm() {
    fill(inDoubtNotice);
    for (const { field } of fields) field.wrong("");
    // The last error shown takes the focus: reversed, so that the first field gets it.
    const wrong = fields.filter(({ field }) => validationError(field.input)).reverse();
    for (const { field } of wrong) field.wrong(validationError(field.input));
    if (wrong.length > 0) return;
    const isSettled = await whenReady();
    if (!root.isConnected) return showToast(t("没有保存：上传完成前离开了页面", "Not saved: the page was left before the uploads finished"), { bad: true });
    if (!isSettled) return;
    try {
      if ((await send()) !== false) discardDraft?.();
    } catch (error) {
      if (error instanceof InDoubtError) return fill(inDoubtNotice, h("p", { class: "notice bad" }, icon("warn"), error.message));
      if (!(error instanceof Refusal) || error.isTrouble) throw error;
      const rejected = fieldNamedIn(fields, error.message);
      if (!rejected) throw error;
      rejected.wrong(error.message);
    }
  }
}

/**
 * Opens the form in a dialog, which closes after a successful `send`.
 * @param {string} title
 * @param {FormField[]} fields
 * @param {string} text of the button
 * @param {() => unknown} send returns `false` if nothing was sent
 * @param {{before?: import("../../core/dom.js").Child[], inside?: Node[], no?: string, danger?: boolean}} [options]
 * `before`: content above the form; `inside`, `no` and `danger` as in `form`
 */
export function formSheet(title, fields, text, send, { before = [], ...options } = {}) {
  return openSheet(title, (close) => [h("div", { class: "stack" }, ...before, form(fields, text, async () => {
    const isDone = (await send()) !== false;
    if (isDone) close();
    return isDone;
  }, { cancel: close, ...options }))]);
}

/**
 * Returns the error of a local check, or an empty text.
 * @param {Field["input"]} input
 */
function validationError({ required, disabled, value, validity }) {
  if (disabled) return "";
  if (validity.badInput || validity.stepMismatch) return t("请填写整数", "Enter a whole number");
  return required && !value.trim() ? t("请填写", "This field is required") : "";
}

/**
 * Returns the field named first in a refusal, which may name several.
 * @param {FormField[]} fields
 * @param {string} message
 */
function fieldNamedIn(fields, message) {
  const found = fields.flatMap(({ field, names }) => names.map((name) => ({ field, place: message.search(wordPattern(name)) })));
  return found.filter(({ place }) => place >= 0).sort((first, second) => first.place - second.place)[0]?.field;
}

/**
 * Matches whole words: `x` does not match in `expected`.
 * @param {string} name
 */
function wordPattern(name) {
  return new RegExp(`(?<![A-Za-z])${name}(?![A-Za-z])`);
}
