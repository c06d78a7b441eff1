// Tables of names, types and meanings.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { typeLabel } from "./document.js";

/** @typedef {{name: string, type: (Node | string)[], meaning: (string | false | undefined)[]}} Row */

/** @param {Row[]} rows */
export function table(rows) {
  return h("div", { class: "scroll" }, h("table", null,
    h("thead", null, h("tr", null, [t("名称", "Name"), t("类型", "Type"), t("含义", "Meaning")].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", null, rows.map(({ name, type, meaning }) =>
      h("tr", null, h("td", null, name), h("td", null, type), h("td", null, meaning.filter(Boolean).join(" · ")))))));
}

/**
 * Returns the fields of an object schema.
 * @param {import("./document.js").Schema} schema
 * @returns {Row[]}
 */
export function schemaRows(schema) {
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name, type: typeLabel(field),
    meaning: [schema.required?.includes(name) && t("必填", "required"), field.description, field.enum?.join(" ")],
  }));
}
