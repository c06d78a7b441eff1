// The list of chapters.

import { fill, h } from "../core/dom.js";
import { t } from "../core/language.js";
import { CHAPTERS } from "./chapters/index.js";
import { say } from "./prose.js";
import { addressOf } from "./routes.js";

/**
 * @param {HTMLElement} nav
 * @param {string} current id of the chapter that is shown; empty: the overview
 */
export function renderContents(nav, current) {
  const link = (/** @type {string} */ id, /** @type {string} */ text) =>
    h("li", null, h("a", { href: id ? addressOf(id) : "#/", "aria-current": id === current ? "page" : null }, text));
  nav.setAttribute("aria-label", t("章节", "Chapters"));
  fill(nav, h("ul", null,
    link("", t("总览", "Overview")),
    CHAPTERS.map(({ id, title }, index) => link(id, `${index} ${say(title)}`))));
  const here = nav.querySelector("[aria-current]");
  // On narrow pages the list is a row that scrolls.
  if (here instanceof HTMLElement) nav.scrollLeft = here.offsetLeft - (nav.clientWidth - here.offsetWidth) / 2;
}
