// A form to try a call, and what the mall answers, to the last digit.

import { rawRequest } from "../core/api.js";
import { h } from "../core/dom.js";
import { t, language } from "../core/language.js";
import { whileBusy } from "../parts/button.js";
import { field } from "../parts/field.js";
import { exampleOf } from "./document.js";
import { token } from "./token.js";

/** @typedef {import("./document.js").Parameter} Parameter */
/** @typedef {Parameter & {input: HTMLInputElement}} Filled */

/**
 * @param {{path: string, method: string, parameters: Parameter[], kind: string | undefined, schema: import("./document.js").Schema}} call
 * `kind`: of its body
 */
export function trial({ path, method, parameters, kind, schema }) {
  const inputs = parameters.map((parameter) => {
    const { name, required, schema: type } = parameter;
    const made = field(name, "input", {
      required, spellcheck: "false", autocapitalize: "off", class: "mono",
      placeholder: type.examples?.[0] ?? type.anyOf?.[0].examples?.[0] ?? "", value: required ? type.examples?.[0] ?? exampleOf(type) : "",
    });
    return { ...parameter, root: made.root, input: made.input };
  });
  const body = kind === "application/json" ? jsonBody(schema) : kind === "multipart/form-data" ? fileBody(schema) : null;
  const send = h("button", { class: "button main", type: "submit" }, t("发送", "Send"));
  const said = h("pre", { class: "all", hidden: true, role: "status", tabindex: 0 });
  return h("form", { class: "trial", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    whileBusy(send, sent);
  } }, inputs.map(({ root }) => root), body?.root, h("div", { class: "all" }, send), said);

  async function sent() {
    said.hidden = false;
    said.textContent = t("发送中…", "Sending…");
    const began = performance.now();
    try {
      const { status, text } = await rawRequest(method.toUpperCase(), addressOf(path, inputs), { headers: headersOf(inputs, kind), body: body?.read() });
      const took = Math.round(performance.now() - began);
      said.textContent = `${t("状态", "Status")} ${status} · ${took} ${t("毫秒", "ms")}\n${pretty(text)}`;
      if (path === "/user/login") useToken(text);
    } catch (error) {
      said.textContent = `${t("没有应答", "No answer")}: ${error instanceof Error ? error.message : error}`;
    }
  }
}

/**
 * @param {string} path
 * @param {Filled[]} inputs
 */
function addressOf(path, inputs) {
  const place = of(inputs, "path").reduce((at, { name, input }) => at.replace(`{${name}}`, encodeURIComponent(input.value)), path);
  const query = new URLSearchParams(of(inputs, "query").map(({ name, input }) => [name, input.value])).toString();
  return place + (query && `?${query}`);
}

/**
 * @param {Filled[]} inputs
 * @param {string} [kind] of the body
 */
function headersOf(inputs, kind) {
  const headers = Object.fromEntries(of(inputs, "header").map(({ name, input }) => [name, input.value]));
  headers["accept-language"] = language();
  if (token.input.value.trim()) headers.authorization = token.input.value.trim();
  // Of a form with a file, the browser itself says what it is.
  if (kind === "application/json") headers["content-type"] = kind;
  return headers;
}

/**
 * @param {Filled[]} inputs
 * @param {Parameter["in"]} place
 */
function of(inputs, place) {
  return inputs.filter(({ in: at, input }) => at === place && input.value !== "");
}

/** @param {import("./document.js").Schema} schema */
function jsonBody(schema) {
  const { root, input } = field(t("请求体", "Body"), "textarea", { spellcheck: "false", class: "mono", rows: 8 }, JSON.stringify(exampleOf(schema), null, 2));
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

/** @param {string} text an answer of the log-in */
function useToken(text) {
  const { success, data } = JSON.parse(text);
  if (!success) return;
  token.input.value = data;
  token.said.textContent = t("已登录：令牌已填好", "Logged in: the token is filled in");
}

/**
 * Broken into lines, without reading the numbers: an order's id would be rounded.
 * @param {string} text
 */
function pretty(text) {
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
