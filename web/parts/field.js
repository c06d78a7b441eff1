// An input with its label, and what is wrong with what was typed.

import { h } from "../core/dom.js";

let count = 0;

/**
 * @template {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Input
 * @typedef {object} Field
 * @property {HTMLElement} root
 * @property {Input} input
 * @property {(text: string) => void} wrong says what is wrong; nothing with an empty text
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
  const id = `field-${(count += 1)}`;
  const input = h(name, { ...attributes, id }, ...children);
  const said = h("p", { class: "wrong", id: `${id}-wrong`, role: "alert" });
  const root = h("div", { class: "field" }, h("label", { for: id }, label), input, said);
  // What was said was about what stood there before.
  input.addEventListener("input", () => said.textContent && wrong(""));
  return { root, input, wrong };

  /** @param {string} text */
  function wrong(text) {
    said.textContent = text;
    if (text) {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", said.id);
      input.focus();
    } else {
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
    }
  }
}
