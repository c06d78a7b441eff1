// What a list is narrowed by: fields above it, whose values stand in the address.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { goOrReopen } from "../../core/router.js";
import { field } from "../../parts/field.js";
import { icon } from "../../parts/icons.js";
import { withQuery } from "./listing.js";

/** @typedef {{name: string, label: string, options?: {value: string, text: string}[], attributes?: import("../../core/dom.js").Attributes}} Filter `options`: one of a few */

/**
 * @param {Record<string, string>} at what the address says
 * @param {Filter[]} filters
 */
export function filters(at, filters) {
  const fields = filters.map(({ name, label, options, attributes }) => {
    const made = options
      ? field(label, "select", { name, ...attributes }, options.map(({ value, text }) => h("option", { value, selected: value === (at[name] ?? "") }, text)))
      : field(label, "input", { name, type: "search", value: at[name] ?? "", ...attributes });
    if (options) made.input.addEventListener("change", find);
    return { name, ...made };
  });
  return h("form", { class: "filters", role: "search", onsubmit: find }, fields.map(({ root }) => root),
    h("button", { class: "button main", type: "submit" }, icon("search"), h("span", null, t("查找", "Find"))));

  /** @param {Event} event */
  function find(event) {
    event.preventDefault();
    const values = Object.fromEntries(fields.map(({ name, input }) => [name, input.value.trim()]));
    goOrReopen(withQuery({ ...values, current: "" }));
  }
}
