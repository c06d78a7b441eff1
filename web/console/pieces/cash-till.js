// The till of this device: the name under which its drawer is opened, and cash is taken.

import { loadDevice, saveDevice } from "../../core/device-storage.js";
import { t } from "../../core/language.js";
import { field } from "../../parts/field.js";
import { formSheet } from "./form.js";

const ENTRY = "till";
/** The till of a shop that has only one. */
const USUAL_TILL = "1";
const NAME_MAX = 20;

/** Returns the name of this device's till. */
export function currentTill() {
  return loadDevice(ENTRY) ?? USUAL_TILL;
}

/** @param {string} [name] */
export function tillName(name = currentTill()) {
  return t(`收银台${name}`, `Till ${name}`);
}

/**
 * Asks for the name of this device's till.
 * @param {() => void} onChange
 */
export function askTill(onChange) {
  const name = field(t("名称，例如“2”或“外摆”", "Name, such as “2” or “terrace”"), "input", { maxlength: NAME_MAX, required: true, autocomplete: "off", value: currentTill() });
  return formSheet(t("这台设备的收银台", "The till of this device"), [{ field: name, names: ["收银台", "till"] }], t("保存", "Save"), () => {
    saveDevice(ENTRY, name.input.value.trim());
    onChange();
  });
}
