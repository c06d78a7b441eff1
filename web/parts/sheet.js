// Modal dialogs: a bottom sheet on a phone, centred elsewhere. Escape, the backdrop and navigation close
// them.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { button } from "./button.js";

/**
 * Opens a dialog.
 * @param {string} title
 * @param {(close: () => void) => import("../core/dom.js").Child[]} contents
 * @returns {Promise<void>} resolves when the dialog closes
 */
export function openSheet(title, contents) {
  return new Promise((done) => {
    const dialog = h("dialog", { class: "sheet", "aria-label": title });
    const close = () => dialog.close();
    dialog.append(h("div", { class: "sheet-body" }, h("h2", null, title), ...contents(close).filter((child) => child instanceof Node)));
    // A text selection that starts inside may end on the backdrop: only a click that starts there closes the
    // dialog.
    let beganOutside = false;
    dialog.addEventListener("pointerdown", (event) => (beganOutside = event.target === dialog));
    dialog.addEventListener("click", (event) => event.target === dialog && beganOutside && close());
    // The question concerns the screen that was left.
    addEventListener("hashchange", close);
    dialog.addEventListener("close", () => {
      removeEventListener("hashchange", close);
      dialog.remove();
      done();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Asks before an action. In every dialog the last button runs the action, and the first button cancels.
 * @param {string} title
 * @param {string} text the consequence
 * @param {string} yes label of the button that acts
 * @param {{no?: string, danger?: boolean}} [options] `no`: label of the other button, where "Cancel" would be
 * ambiguous; `danger`: the action cannot be undone
 * @returns {Promise<boolean>}
 */
export async function confirmAction(title, text, yes, { no = t("取消", "Cancel"), danger = false } = {}) {
  let isConfirmed = false;
  await openSheet(title, (close) => [
    h("p", null, text),
    h("div", { class: "buttons" },
      button(no, close),
      button(yes, () => {
        isConfirmed = true;
        close();
      }, { look: danger ? ["main", "danger"] : ["main"] })),
  ]);
  return isConfirmed;
}
