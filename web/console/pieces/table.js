// A dense table; on a phone each row is a card with labelled cells.

import { h } from "../../core/dom.js";

/** @typedef {import("../../core/dom.js").Child} Child */

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => Child} cell
 * @property {"number" | "wide" | "acts" | ""} [look]
 */

/**
 * @template Row
 * @param {string} name accessible name
 * @param {Column<Row>[]} columns
 * @param {Row[]} rows
 */
export function table(name, columns, rows) {
  // Explicit roles: tables styled with `display` lose their semantics.
  return h("table", { class: "table", role: "table", "aria-label": name },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
      columns.map(({ title, look }) => h("th", { role: "columnheader", scope: "col", class: look },
        look === "acts" ? h("span", { class: "unseen" }, title) : title)))),
    h("tbody", { role: "rowgroup" }, rows.map((row) => h("tr", { role: "row" },
      columns.map(({ title, cell, look }) => h("td", { role: "cell", class: look, "data-title": look === "acts" ? null : title }, cell(row)))))));
}
