// A form whose fields the mall checks: what it says about one stands beside that one.

import { Refusal } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { busy, button } from "../../parts/button.js";
import { both } from "../../core/language.js";
import { sheet } from "../../parts/sheet.js";

/** @typedef {import("../../parts/field.js").Field<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>} Field */
/** @typedef {{field: Field, names: string[]}} Checked a field, by the names that the mall may call it in either language */

/**
 * @param {Checked[]} fields
 * @param {string} text of the button
 * @param {() => unknown} send
 * @param {{inside?: import("../../core/dom.js").Child[], cancel?: () => void}} [how] `inside`: what stands in it, if not only the fields
 */
export function form(fields, text, send, { inside = fields.map(({ field }) => field.root), cancel } = {}) {
  const submit = h("button", { type: "submit", class: "button main" }, text);
  return h("form", { class: "stack", novalidate: true, onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    busy(submit, sent);
  } }, inside, h("div", { class: "buttons row" }, submit, cancel && button(both("取消", "Cancel"), cancel)));

  async function sent() {
    for (const { field } of fields) field.wrong("");
    try {
      await send();
    } catch (error) {
      if (!(error instanceof Refusal) || error.isTrouble) throw error;
      const about = blamed(fields, error.message);
      if (!about) throw error;
      about.wrong(error.message);
    }
  }
}

/**
 * The same in a dialog, which closes once it is done.
 * @param {string} title
 * @param {Checked[]} fields
 * @param {string} text of the button
 * @param {() => unknown} send
 * @param {...import("../../core/dom.js").Child} before
 */
export function formSheet(title, fields, text, send, ...before) {
  return sheet(title, (close) => [h("div", { class: "stack" }, before, form(fields, text, async () => {
    await send();
    close();
  }, { cancel: close }))]);
}

/**
 * The field that a refusal names; the longest name counts, as one may be part of another.
 * @param {Checked[]} fields
 * @param {string} message
 */
function blamed(fields, message) {
  const found = fields.flatMap(({ field, names }) => names.filter((name) => message.includes(name)).map((name) => ({ field, name })));
  return found.sort((one, other) => other.name.length - one.name.length)[0]?.field;
}
