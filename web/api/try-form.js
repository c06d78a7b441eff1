// A form to try a call, with the unmodified response.

import { rawRequest } from "../core/api.js";
import { h } from "../core/dom.js";
import { t, language } from "../core/language.js";
import { whileBusy } from "../parts/button.js";
import { field } from "../parts/field.js";
import { exampleValue } from "./document.js";
import { token } from "./token.js";

/** @typedef {import("./document.js").Parameter} Parameter */
/** @typedef {Parameter & {input: HTMLInputElement}} ParameterInput */

/**
 * @param {{path: string, method: string, parameters: Parameter[], kind: string | undefined, schema: import("./document.js").Schema}} call
 * `kind`: content type of the body
 */
export function tryForm({ path, method, parameters, kind, schema }) {
  const inputs = parameters.map((parameter) => {
    const { name, required, schema: type } = parameter;
    const made = field(name, "input", {
      required, spellcheck: "false", autocapitalize: "off", class: "mono",
      placeholder: type.examples?.[0] ?? type.anyOf?.[0].examples?.[0] ?? "", value: required ? type.examples?.[0] ?? exampleValue(type) : "",
    });
    return { ...parameter, root: made.root, input: made.input };
  });
  const body = kind === "application/json" ? jsonBody(schema) : kind === "multipart/form-data" ? fileBody(schema) : null;
  const send = h("button", { class: "button main", type: "submit" }, t("发送", "Send"));
  const output = h("pre", { class: "all", hidden: true, role: "status", tabindex: 0 });
  return h("form", { class: "trial", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    whileBusy(send, sendRequest);
  } }, inputs.map(({ root }) => root), body?.root, h("div", { class: "all" }, send), output);

  async function sendRequest() {
    output.hidden = false;
    output.textContent = t("发送中…", "Sending…");
    const began = performance.now();
    try {
      const { status, text } = await rawRequest(method.toUpperCase(), requestPath(path, inputs), { headers: requestHeaders(inputs, kind), body: body?.read() });
      const durationMs = Math.round(performance.now() - began);
      output.textContent = `${t("状态", "Status")} ${status} · ${durationMs} ${t("毫秒", "ms")}\n${indentJson(text)}`;
      if (path === "/user/login") adoptToken(text);
    } catch (error) {
      output.textContent = `${t("没有响应", "No response")}: ${error instanceof Error ? error.message : error}`;
    }
  }
}

/**
 * @param {string} path
 * @param {ParameterInput[]} inputs
 */
function requestPath(path, inputs) {
  const place = valuesIn(inputs, "path").reduce((at, { name, input }) => at.replace(`{${name}}`, encodeURIComponent(input.value)), path);
  const query = new URLSearchParams(valuesIn(inputs, "query").map(({ name, input }) => [name, input.value])).toString();
  return place + (query && `?${query}`);
}

/**
 * @param {ParameterInput[]} inputs
 * @param {string} [kind] of the body
 */
function requestHeaders(inputs, kind) {
  const headers = Object.fromEntries(valuesIn(inputs, "header").map(({ name, input }) => [name, input.value]));
  headers["accept-language"] = language();
  if (token.input.value.trim()) headers.authorization = token.input.value.trim();
  // The browser sets the content type of multipart bodies.
  if (kind === "application/json") headers["content-type"] = kind;
  return headers;
}

/**
 * @param {ParameterInput[]} inputs
 * @param {Parameter["in"]} place
 */
function valuesIn(inputs, place) {
  return inputs.filter(({ in: at, input }) => at === place && input.value !== "");
}

/** @param {import("./document.js").Schema} schema */
function jsonBody(schema) {
  const { root, input } = field(t("请求体", "Body"), "textarea", { spellcheck: "false", class: "mono", rows: 8 }, JSON.stringify(exampleValue(schema), null, 2));
  root.classList.add("all");
  return { root, read: () => input.value };
}

/** @param {import("./document.js").Schema} schema with one file */
function fileBody(schema) {
  const [name] = Object.keys(schema.properties);
  const { root, input } = field(name, "input", { type: "file", required: true });
  return {
    root,
    read: () => {
      const filled = new FormData();
      const [file] = input.files ?? [];
      if (file) filled.append(name, file);
      return filled;
    },
  };
}

/** @param {string} text response of a login */
function adoptToken(text) {
  const { success, data } = JSON.parse(text);
  if (!success) return;
  token.input.value = data;
  token.said.textContent = t("已登录：令牌已填好", "Logged in: the token is filled in");
}

/**
 * Indents JSON without parsing: parsing would round 64-bit ids.
 * @param {string} text
 */
function indentJson(text) {
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  return text.replace(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (piece) => {
    if (piece === "{" || piece === "[") {
      depth += 1;
      return piece + line();
    }
    if (piece === "}" || piece === "]") {
      depth -= 1;
      return line() + piece;
    }
    if (piece === ",") return piece + line();
    return piece === ":" ? ": " : piece;
  }).replace(/([{[])\s+([}\]])/g, "$1$2");
}
