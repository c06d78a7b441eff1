// A form whose fields the mall checks: what it says about one stands beside that one.

import { Refusal } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { whileBusy, button } from "../../parts/button.js";
import { t } from "../../core/language.js";
import { icon } from "../../parts/icons.js";
import { openSheet } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { keepTyped } from "./typed.js";
import { Unsure } from "./unsure.js";

/** @typedef {import("../../parts/field.js").Field<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>} Field */
/**
 * A field, by the names that the mall may call it in either language. `settled`: what it holds may be on its way still; answers
 * what is wrong with it then.
 * @typedef {{field: Field & {settled?: () => Promise<string>}, names: string[]}} Checked
 */

/**
 * @param {Checked[]} fields
 * @param {string} text of the button
 * @param {() => unknown} send answers `false` if it was not sent
 * @param {{inside?: Node[], cancel?: () => void, no?: string, keeps?: boolean, danger?: boolean}} [options] `inside`: what stands in it, if not only the fields;
 * `keeps`: what is typed is there again if the screen is drawn anew; `no`: label of the button that cancels; `danger`: sending cannot be undone
 */
export function form(fields, text, send, { inside = fields.map(({ field }) => field.root), cancel, no = t("取消", "Cancel"), keeps = false, danger = false } = {}) {
  const submit = h("button", { type: "submit", class: danger ? "button main danger" : "button main" }, text);
  // It stays there, as it says what to do next.
  const unsure = h("div", { class: "form-unsure", role: "alert" });
  const root = h("form", { class: "stack", novalidate: true, onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    whileBusy(submit, sent);
  } }, inside, unsure, h("div", { class: "buttons row" }, cancel && button(no, cancel), submit));
  const wasSent = keeps ? keepTyped(root) : undefined;
  return root;

  /** Once all of it is there; whether it may be sent. */
  async function settled() {
    const said = await Promise.all(fields.map(async ({ field }) => {
      const text = (await field.settled?.()) ?? "";
      if (text) field.wrong(text);
      return text;
    }));
    return said.every((text) => text === "");
  }

  async function sent() {
    fill(unsure);
    for (const { field } of fields) field.wrong("");
    // The last one that is said keeps the focus: the first of the fields.
    const wrong = fields.filter(({ field }) => unfit(field.input)).reverse();
    for (const { field } of wrong) field.wrong(unfit(field.input));
    if (wrong.length > 0) return;
    const isSettled = await settled();
    if (!root.isConnected) return showToast(t("没有保存：还没传完就离开了", "Not saved: it was left before all of it was there"), { bad: true });
    if (!isSettled) return;
    try {
      if ((await send()) !== false) wasSent?.();
    } catch (error) {
      if (error instanceof Unsure) return fill(unsure, h("p", { class: "notice bad" }, icon("warn"), error.message));
      if (!(error instanceof Refusal) || error.isTrouble) throw error;
      const about = blamed(fields, error.message);
      if (!about) throw error;
      about.wrong(error.message);
    }
  }
}

/**
 * Opens the form in a dialog, which closes after a successful `send`.
 * @param {string} title
 * @param {Checked[]} fields
 * @param {string} text of the button
 * @param {() => unknown} send returns `false` if nothing was sent
 * @param {{before?: import("../../core/dom.js").Child[], no?: string, danger?: boolean}} [options] `before`: what stands above the
 * form; `no` and `danger` as in `form`
 */
export function formSheet(title, fields, text, send, { before = [], ...options } = {}) {
  return openSheet(title, (close) => [h("div", { class: "stack" }, ...before, form(fields, text, async () => {
    const isDone = (await send()) !== false;
    if (isDone) close();
    return isDone;
  }, { cancel: close, ...options }))]);
}

/**
 * What can be told without asking the mall; nothing if it may be asked.
 * @param {Field["input"]} input
 */
function unfit({ required, disabled, value, validity }) {
  if (disabled) return "";
  if (validity.badInput || validity.stepMismatch) return t("请填完整，数量为整数", "Please fill it in completely; whole numbers only");
  return required && !value.trim() ? t("请填写", "Please fill this in") : "";
}

/**
 * The field that a refusal names first: what it says of one may name another.
 * @param {Checked[]} fields
 * @param {string} message
 */
function blamed(fields, message) {
  const found = fields.flatMap(({ field, names }) => names.map((name) => ({ field, place: message.search(whole(name)) })));
  return found.filter(({ place }) => place >= 0).sort((one, other) => one.place - other.place)[0]?.field;
}

/**
 * Not as a part of another word: `x` is no name in `expected`.
 * @param {string} name
 */
function whole(name) {
  return new RegExp(`(?<![A-Za-z])${name}(?![A-Za-z])`);
}
