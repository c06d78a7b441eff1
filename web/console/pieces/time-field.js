// A moment by the mall's wall clock.

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
 * What stands in it, as the mall writes times; nothing if it is empty.
 * @param {HTMLInputElement} input
 */
export function timeIn({ value }) {
  // Browsers leave out seconds that are zero.
  return value ? `${value}:00`.slice(0, 19) : undefined;
}

/** In whose time such fields are read. */
export async function zoneText() {
  const zone = await readiness().then((said) => said.zone, () => undefined);
  return zone ? t(`按商城时区 ${zone} 填写`, `In the mall's time zone, ${zone}`) : t("按商城时区填写", "In the mall's time zone");
}
