// Filter fields above a list, with their values in the address.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { goOrReopen } from "../../core/router.js";
import { field } from "../../parts/field.js";
import { icon } from "../../parts/icons.js";
import { withQuery } from "./listing.js";

/**
 * @typedef {{name: string, label: string, options?: {value: string, text: string}[], attributes?:
 * import("../../core/dom.js").Attributes}} Filter `options`: choices of a select
 */

/**
 * @param {Record<string, string>} at parameters of the address
 * @param {Filter[]} filters
 */
export function filters(at, filters) {
  const fields = filters.map(({ name, label, options, attributes }) => {
    const made = options
      ? field(label, "select", { name, ...attributes }, options.map(({ value, text }) => h("option", { value, selected: value === (at[name] ?? "") }, text)))
      : field(label, "input", { name, type: "search", value: at[name] ?? "", ...attributes });
    if (options) made.input.addEventListener("change", applyFilters);
    return { name, ...made };
  });
  return h("form", { class: "filters", role: "search", onsubmit: applyFilters }, fields.map(({ root }) => root),
    h("button", { class: "button main", type: "submit" }, icon("search"), h("span", null, t("查找", "Find"))));

  /** @param {Event} event */
  function applyFilters(event) {
    event.preventDefault();
    const values = Object.fromEntries(fields.map(({ name, input }) => [name, input.value.trim()]));
    goOrReopen(withQuery({ ...values, current: "" }));
  }
}
