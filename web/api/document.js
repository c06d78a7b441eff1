// The OpenAPI document of the mall, `/openapi.json`.

import { h } from "../core/dom.js";

/** @typedef {any} Schema a JSON schema of OpenAPI 3.1 */
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

/** @param {any} loaded */
export function setApiDocument(loaded) {
  whole = loaded;
}

/** @returns {any} `null` before loading */
export function apiDocument() {
  return whole;
}

/** @returns {Call[]} */
export function calls() {
  return Object.entries(whole.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })));
}

/**
 * Resolves a reference.
 * @param {any} object
 * @returns {any}
 */
export function resolveRef(object) {
  const path = object?.$ref?.slice(2).split("/");
  return path ? resolveRef(path.reduce((/** @type {any} */ at, /** @type {string} */ name) => at?.[name], whole)) : object;
}

/**
 * Describes a schema in a few words, with links to named schemas.
 * @param {Schema} schema
 * @returns {(Node | string)[]}
 */
export function typeLabel(schema) {
  if (!schema) return [""];
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return [h("a", { href: `#schema-${name}` }, name)];
  }
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  const several = schema.oneOf ?? schema.anyOf;
  if (several) return several.flatMap((/** @type {Schema} */ one, /** @type {number} */ at) => (at ? [" | ", ...typeLabel(one)] : typeLabel(one)));
  if (schema.type === "array") return [...typeLabel(schema.items), "[]"];
  return [[schema.type].flat().filter((type) => type && type !== "null").join(" | ")];
}

/**
 * Returns an example value: examples of the fields, or else the simplest value of the type.
 * @param {Schema} schema
 * @returns {any}
 */
export function exampleValue(schema, depth = 0) {
  const plain = resolveRef(schema);
  if (!plain || depth > 8) return null;
  if (plain.examples?.length) return plain.examples[0];
  if (plain.const !== undefined) return plain.const;
  if (plain.enum?.length) return plain.enum[0];
  const several = plain.allOf ?? plain.oneOf ?? plain.anyOf;
  if (!plain.type && several) return exampleValue(several.find((/** @type {Schema} */ one) => one.type !== "null"), depth + 1);
  switch ([plain.type].flat().find((type) => type !== "null")) {
    case "object": return Object.fromEntries(Object.entries(plain.properties ?? {}).map(([name, field]) => [name, exampleValue(field, depth + 1)]));
    case "array": return [exampleValue(plain.items, depth + 1)];
    case "integer": case "number": return Math.max(1, plain.minimum ?? 1);
    case "boolean": return true;
    default: return plain.default ?? "";
  }
}
