// A table with a row for each system, grouped by class. It scrolls within its own box on a narrow screen.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { lookSample } from "./chart/look.js";
import { capital, classText, shortClassText } from "./words.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").Subject} Subject */
/**
 * @typedef {object} ClassColumn
 * @property {string} title
 * @property {string} [note] below the title
 * @property {(subject: Subject) => import("../core/dom.js").Child} cell
 */

/**
 * @param {Report} report
 * @param {string} name caption
 * @param {ClassColumn[]} columns
 */
export function classTable({ classes }, name, columns) {
  return h("div", { class: "stack tight" },
    h("p", { class: "swipe-hint small quiet", "aria-hidden": "true" }, t("↔ 表格可左右滑动", "↔ The table scrolls sideways")),
    h("div", { class: "table-box", role: "group", tabindex: 0, "aria-label": name },
      h("table", { class: "data by-class" },
        h("caption", null, h("span", null, name)),
        h("thead", null, h("tr", null, h("th", { scope: "col", class: "name" }, t("系统", "System")), columns.map(({ title, note }) =>
          h("th", { scope: "col", class: "number" }, title, note && h("span", { class: "under" }, note))))),
        classes.map((group) => h("tbody", null,
          h("tr", { class: "class-row" }, h("th", { scope: "rowgroup", colspan: columns.length + 1 },
            h("span", null, capital(shortClassText(group.class, classes) || classText(group.class))))),
          group.subjects.map((subject) => h("tr", null,
            h("th", { scope: "row", class: "name" }, h("span", { class: "system-name" }, lookSample(subject.look), subject.name)),
            columns.map(({ cell }) => h("td", { class: "number" }, cell(subject))))))))));
}
