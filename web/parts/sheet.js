// A dialog: from below on a phone, in the middle elsewhere. Escape and its ground close it, and it goes with its screen.

import { h } from "../core/dom.js";
import { both } from "../core/language.js";
import { button } from "./button.js";

/**
 * Opens a dialog with these contents.
 * @param {string} title
 * @param {(close: () => void) => import("../core/dom.js").Child[]} contents
 * @returns {Promise<void>} once it is closed
 */
export function sheet(title, contents) {
  return new Promise((done) => {
    const dialog = h("dialog", { class: "sheet", "aria-label": title });
    const close = () => dialog.close();
    dialog.append(h("div", { class: "sheet-body" }, h("h2", null, title), ...contents(close).filter((child) => child instanceof Node)));
    // A text that is marked from within to without ends there, too: what began inside closes nothing.
    let beganOutside = false;
    dialog.addEventListener("pointerdown", (event) => (beganOutside = event.target === dialog));
    dialog.addEventListener("click", (event) => event.target === dialog && beganOutside && close());
    // What it asks about is not shown any more.
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
 * Asks before an action. In every dialog the button that acts is the last one, and the first one leaves things as they are.
 * @param {string} title
 * @param {string} text what will happen
 * @param {string} yes label of the button that acts
 * @param {{no?: string, danger?: boolean}} [how] `no`: label of the other button, where "Cancel" would be ambiguous; `danger`:
 * the action cannot be undone
 * @returns {Promise<boolean>}
 */
export async function confirmed(title, text, yes, { no = both("取消", "Cancel"), danger = false } = {}) {
  let isSure = false;
  await sheet(title, (close) => [
    h("p", null, text),
    h("div", { class: "buttons" },
      button(no, close),
      button(yes, () => {
        isSure = true;
        close();
      }, { look: danger ? ["main", "danger"] : ["main"] })),
  ]);
  return isSure;
}
