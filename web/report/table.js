// A table that scrolls within its own box where it is wider than the page.

import { h } from "../core/dom.js";

/** @typedef {import("../core/dom.js").Child} Child */
/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => Child} cell
 * @property {"number" | "text" | "name"} look `name`: heads its row
 */

/**
 * @template Row
 * @param {string} name accessible name
 * @param {Column<Row>[]} columns
 * @param {Row[]} rows
 */
export function table(name, columns, rows) {
  return h("div", { class: "table-box", role: "group", tabindex: 0, "aria-label": name },
    h("table", { class: "data", "aria-label": name },
      h("thead", null, h("tr", null, columns.map(({ title, look }) => h("th", { scope: "col", class: look }, title)))),
      h("tbody", null, rows.map((row) => h("tr", null, columns.map(({ cell, look }) =>
        look === "name" ? h("th", { scope: "row", class: look }, cell(row)) : h("td", { class: look }, cell(row))))))));
}

/**
 * @template Row
 * @param {string} title
 * @param {(row: Row) => Child} cell
 * @returns {Column<Row>}
 */
export function numberColumn(title, cell) {
  return { title, cell, look: "number" };
}

/**
 * Leaves out a column of which no row has a value.
 * @template Row
 * @param {Row[]} rows
 * @param {(row: Row) => unknown} value
 * @param {Column<Row>} column
 * @returns {Column<Row>[]}
 */
export function columnIfAny(rows, value, column) {
  return rows.some((row) => value(row) !== null) ? [column] : [];
}
