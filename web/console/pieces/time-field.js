// A date and time field in the mall's time zone.

import { readiness } from "../../core/api.js";
import { t } from "../../core/language.js";
import { field } from "../../parts/field.js";

/**
 * @param {string} label
 * @param {string} [text] `2026-11-21T10:09:17`
 */
export function timeField(label, text = "") {
  return field(label, "input", { type: "datetime-local", step: 1, required: true, value: text });
}

/**
 * Returns the input's time in the API's format; undefined if empty.
 * @param {HTMLInputElement} input
 */
export function timeValue({ value }) {
  // Browsers omit zero seconds.
  return value ? `${value}:00`.slice(0, 19) : undefined;
}

/** Returns a hint about the time zone. */
export async function timeZoneText() {
  const zone = await readiness().then((said) => said.zone, () => undefined);
  return zone ? t(`按商城时区 ${zone} 填写`, `In the mall's time zone, ${zone}`) : t("按商城时区填写", "In the mall's time zone");
}
