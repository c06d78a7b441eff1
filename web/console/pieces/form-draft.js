// Drafts of forms: unsent input survives re-rendering, a language switch and a new login, until the page
// closes.

import { address } from "../../core/router.js";

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */

/** @type {Map<string, Map<number, string>>} changed values by address and index of the control */
const drafts = new Map();

/**
 * Restores the draft of the current address and records further input.
 * @param {HTMLFormElement} form
 * @returns {() => void} discards the draft after submission
 */
export function keepFormDraft(form) {
  let formAddress = address();
  const controls = /** @type {Control[]} */ ([...form.querySelectorAll("input, select, textarea")]).filter(isRestorable);
  let initialValues = controls.map(controlValue);
  for (const [index, value] of drafts.get(formAddress) ?? []) setValue(controls[index], value);
  form.addEventListener("input", save);
  form.addEventListener("change", save);

  return () => {
    drafts.delete(formAddress);
    initialValues = controls.map(controlValue);
  };

  function save() {
    // The screen was left: the current address is of another form.
    if (path(address()) !== path(formAddress)) return;
    // Choices in the form may change the address.
    drafts.delete(formAddress);
    formAddress = address();
    const changed = controls.flatMap((control, index) => (controlValue(control) === initialValues[index] ? [] : [/** @type {[number, string]} */ ([index, controlValue(control)])]));
    if (changed.length > 0) drafts.set(formAddress, new Map(changed));
  }
}

/** Logging out deletes all drafts. */
export function clearFormDrafts() {
  drafts.clear();
}

/**
 * Excludes comboboxes and files.
 * @param {Control} control
 */
function isRestorable(control) {
  return control.type !== "file" && control.getAttribute("role") !== "combobox";
}

/** @param {string} whole */
function path(whole) {
  return whole.split("?")[0];
}

/** @param {Control} control */
function controlValue(control) {
  return control instanceof HTMLInputElement && control.type === "checkbox" ? String(control.checked) : control.value;
}

/**
 * @param {Control | undefined} control
 * @param {string} value
 */
function setValue(control, value) {
  if (!control) return;
  if (control instanceof HTMLInputElement && control.type === "checkbox") control.checked = value === "true";
  else control.value = value;
  // Notifies dependent code as for user input.
  control.dispatchEvent(new Event("change", { bubbles: true }));
}
