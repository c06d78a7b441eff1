// An input with a label and an error message.

import { h } from "../core/dom.js";

let fieldCount = 0;

/**
 * @template {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Input
 * @typedef {object} Field
 * @property {HTMLElement} root
 * @property {Input} input
 * @property {(text: string) => void} wrong shows an error message; an empty text clears the message
 */

/**
 * @template {"input" | "select" | "textarea"} Name
 * @param {string} label
 * @param {Name} name
 * @param {import("../core/dom.js").Attributes} [attributes]
 * @param {...import("../core/dom.js").Child} children
 * @returns {Field<HTMLElementTagNameMap[Name]>}
 */
export function field(label, name, attributes, ...children) {
  const id = `field-${(fieldCount += 1)}`;
  const input = h(name, { ...attributes, id }, ...children);
  const message = h("p", { class: "wrong", id: `${id}-wrong`, role: "alert" });
  const root = h("div", { class: "field" }, h("label", { for: id }, label), input, message);
  // The message concerned the previous value.
  input.addEventListener("input", () => message.textContent && showError(""));
  return { root, input, wrong: showError };

  /** @param {string} text */
  function showError(text) {
    message.textContent = text;
    if (text) {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", message.id);
      input.focus();
    } else {
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
    }
  }
}
