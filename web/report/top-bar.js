// The bar above the report: skip link, and the choices of colour scheme and language.

import { fill, h } from "../core/dom.js";
import { colorScheme, setColorScheme } from "../core/color-scheme.js";
import { t } from "../core/language.js";
import { choice } from "../parts/choice.js";
import { languageSwitch } from "../parts/language-switch.js";
import { skipLink } from "../parts/skip-link.js";

/** @typedef {import("../core/color-scheme.js").ColorScheme} ColorScheme */

/**
 * @param {HTMLElement} bar
 * @param {string} brand name of the program
 */
export function renderBar(bar, brand) {
  const focused = [...bar.querySelectorAll("button")].findIndex((button) => button === document.activeElement);
  /** @type {{value: ColorScheme, text: string}[]} */
  const schemes = [
    { value: "system", text: t("跟随系统", "System") },
    { value: "light", text: t("浅色", "Light") },
    { value: "dark", text: t("深色", "Dark") },
  ];
  fill(bar, skipLink(), h("p", { class: "brand" }, brand),
    h("div", { class: "row wrap" }, choice(t("配色", "Colour scheme"), schemes, colorScheme(), setColorScheme), languageSwitch()));
  // The language switch renders the bar anew.
  if (focused >= 0) bar.querySelectorAll("button")[focused]?.focus();
}
