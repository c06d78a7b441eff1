// What was typed into a form that is not sent yet: it is there again when the form is drawn anew, in the other language, say,
// or after somebody had to log in again. It lasts as long as the page.

import { address } from "../../core/router.js";

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */

/** @type {Map<string, Map<number, string>>} by the form's address: what its controls hold, by their place, where it was changed */
const kept = new Map();

/**
 * Puts back what was typed at this address, and keeps what will be.
 * @param {HTMLFormElement} form
 * @returns {() => void} once it is sent: what it holds now is as it should be
 */
export function keepTyped(form) {
  let at = address();
  const controls = /** @type {Control[]} */ ([...form.querySelectorAll("input, select, textarea")]).filter(isPlain);
  let drawn = controls.map(held);
  for (const [index, what] of kept.get(at) ?? []) put(controls[index], what);
  form.addEventListener("input", save);
  form.addEventListener("change", save);

  return () => {
    kept.delete(at);
    drawn = controls.map(held);
  };

  function save() {
    // It is left already: what is at another address now is not this form.
    if (path(address()) !== path(at)) return;
    // Its address may say what was chosen in it.
    kept.delete(at);
    at = address();
    const changed = controls.flatMap((control, index) => (held(control) === drawn[index] ? [] : [/** @type {[number, string]} */ ([index, held(control)])]));
    if (changed.length > 0) kept.set(at, new Map(changed));
  }
}

/** Whoever logs out leaves nothing behind. */
export function forgetTyped() {
  kept.clear();
}

/**
 * Not what opens a list of its own, nor files.
 * @param {Control} control
 */
function isPlain(control) {
  return control.type !== "file" && control.getAttribute("role") !== "combobox";
}

/** @param {string} whole */
function path(whole) {
  return whole.split("?")[0];
}

/** @param {Control} control */
function held(control) {
  return control instanceof HTMLInputElement && control.type === "checkbox" ? String(control.checked) : control.value;
}

/**
 * @param {Control | undefined} control
 * @param {string} what
 */
function put(control, what) {
  if (!control) return;
  if (control instanceof HTMLInputElement && control.type === "checkbox") control.checked = what === "true";
  else control.value = what;
  // As if it were done by hand, for whatever depends on it.
  control.dispatchEvent(new Event("change", { bubbles: true }));
}
