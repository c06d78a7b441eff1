// The API's description: `/openapi.json`, made from the mall's code.

import { h } from "../core/dom.js";

/** @typedef {any} Schema of JSON, as OpenAPI 3.1 has it: a field or a body may be anything that JSON can be */
/** @typedef {{name: string, in: "path" | "query" | "header", required: boolean, schema: Schema, description?: string}} Parameter */
/**
 * @typedef {object} Operation
 * @property {string} operationId
 * @property {string} summary
 * @property {string} [description]
 * @property {string[]} tags
 * @property {Parameter[]} [parameters]
 * @property {{content: Record<string, {schema: Schema}>}} [requestBody]
 * @property {Record<string, any>} responses
 * @property {Record<string, unknown>[]} security
 */
/** @typedef {{path: string, method: string, operation: Operation}} Call */

/** @type {any} */
let whole = null;

/** @param {any} read */
export function setDocument(read) {
  whole = read;
}

/** @returns {any} `null` until it was read */
export function theDocument() {
  return whole;
}

/** @returns {Call[]} */
export function calls() {
  return Object.entries(whole.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })));
}

/**
 * The object itself, or what it points at.
 * @param {any} object
 * @returns {any}
 */
export function resolved(object) {
  const path = object?.$ref?.slice(2).split("/");
  return path ? resolved(path.reduce((/** @type {any} */ at, /** @type {string} */ name) => at?.[name], whole)) : object;
}

/**
 * What a schema is, in a word or two, with a link to those that have a name.
 * @param {Schema} schema
 * @returns {(Node | string)[]}
 */
export function typeOf(schema) {
  if (!schema) return [""];
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return [h("a", { href: `#schema-${name}` }, name)];
  }
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  const several = schema.oneOf ?? schema.anyOf;
  if (several) return several.flatMap((/** @type {Schema} */ one, /** @type {number} */ at) => (at ? [" | ", ...typeOf(one)] : typeOf(one)));
  if (schema.type === "array") return [...typeOf(schema.items), "[]"];
  return [[schema.type].flat().filter((type) => type && type !== "null").join(" | ")];
}

/**
 * A value that fits: the example of each field, or the simplest thing of its type.
 * @param {Schema} schema
 * @returns {any}
 */
export function exampleOf(schema, depth = 0) {
  const plain = resolved(schema);
  if (!plain || depth > 8) return null;
  if (plain.examples?.length) return plain.examples[0];
  if (plain.const !== undefined) return plain.const;
  if (plain.enum?.length) return plain.enum[0];
  const several = plain.allOf ?? plain.oneOf ?? plain.anyOf;
  if (!plain.type && several) return exampleOf(several.find((/** @type {Schema} */ one) => one.type !== "null"), depth + 1);
  switch ([plain.type].flat().find((type) => type !== "null")) {
    case "object": return Object.fromEntries(Object.entries(plain.properties ?? {}).map(([name, field]) => [name, exampleOf(field, depth + 1)]));
    case "array": return [exampleOf(plain.items, depth + 1)];
    case "integer": case "number": return Math.max(1, plain.minimum ?? 1);
    case "boolean": return true;
    default: return plain.default ?? "";
  }
}
