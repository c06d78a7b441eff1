// A call of the API: description, parameters, responses and a form to try.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { exampleValue, resolveRef, typeLabel } from "./document.js";
import { schemaRows, table } from "./table.js";
import { tryForm } from "./try-form.js";

/** @typedef {import("./document.js").Call} Call */
/** @typedef {import("./document.js").Operation} Operation */

/**
 * Collapsed; the content is rendered when opened, since a hundred forms are slow on a phone.
 * @param {Call} call
 */
export function callDetails(call) {
  const { path, method, operation } = call;
  const needs = accessText(operation);
  const made = h("details", { id: operation.operationId }, h("summary", null,
    h("span", { class: `method ${method}` }, method.toUpperCase()), h("span", { class: "path" }, path),
    h("span", { class: "quiet does" }, summaryOf(operation)), needs && h("span", { class: "chip" }, needs)));
  made.addEventListener("toggle", () => {
    if (made.open && made.childElementCount === 1) made.append(callContent(call));
  });
  return made;
}

/** @param {Operation} operation */
export function summaryOf(operation) {
  return t(/** @type {any} */ (operation)["x-summary-zh"], operation.summary);
}

/** @param {Operation} operation */
function explanationOf(operation) {
  return t(/** @type {any} */ (operation)["x-description-zh"], operation.description);
}

/** @param {Operation} operation */
function accessText(operation) {
  const role = /** @type {any} */ (operation)["x-role"];
  if (role === "operator") return t("需商家", "operator");
  if (role === "staff") return t("需店员", "staff");
  if (role === "gateway") return t("需网关令牌", "gateway");
  const needsToken = operation.security.length > 0 && operation.security.every((way) => way.token);
  return needsToken && t("需登录", "login");
}

/** @param {Call} call */
function callContent({ path, method, operation }) {
  const explanation = explanationOf(operation);
  const { parameters = [], requestBody, responses } = operation;
  const [kind, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const good = responses[200]?.content?.["application/json"]?.schema;
  const example = exampleValue(good?.oneOf?.[0] ?? good);
  return h("div", { class: "body stack" },
    explanation && h("p", null, explanation.replaceAll("`", "")),
    parameters.length > 0 && [h("h3", null, t("参数", "Parameters")), table(parameters.map(parameterRow))],
    content && [h("h3", null, t("请求体", "Body")), table(schemaRows(resolveRef(content.schema)))],
    h("h3", null, t("响应", "Responses")), table(Object.entries(responses).map(responseRow)),
    example && Object.keys(example).length > 0 && [h("h3", null, t("示例", "Example")), h("pre", { tabindex: 0 }, JSON.stringify(example, null, 2))],
    h("h3", null, t("试一试", "Try it")), tryForm({ path, method, parameters, kind, schema: content?.schema }));
}

/** @param {import("./document.js").Parameter} parameter */
function parameterRow({ name, in: place, required, schema, description }) {
  const places = { path: t("路径", "path"), query: t("查询", "query"), header: t("请求头", "header") };
  return { name, type: typeLabel(schema), meaning: [places[place], required && t("必填", "required"), description] };
}

/** @param {[string, any]} answer */
function responseRow([status, answer]) {
  const whole = resolveRef(answer);
  const schema = Object.values(whole.content ?? {})[0]?.schema;
  return { name: status, type: responseType(schema), meaning: [t(whole["x-description-zh"] ?? whole.description, whole.description)] };
}

/**
 * Returns the type of `data` in the envelope.
 * @param {import("./document.js").Schema} schema
 */
function responseType(schema) {
  const data = schema?.oneOf?.[0]?.properties?.data;
  if (data) return typeLabel(data);
  return schema?.oneOf ? ["—"] : typeLabel(schema);
}
