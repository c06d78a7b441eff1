// The API page: all calls, with forms to try them.

import { base, rawRequest } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { t, language, onLanguageChange, setLanguage } from "../core/language.js";
import "../core/color-scheme.js";
import { icon } from "../parts/icons.js";
import { skeletons } from "../parts/skeleton.js";
import { callDetails, summaryOf } from "./call.js";
import { calls, setApiDocument, apiDocument } from "./document.js";
import { schemaRows, table } from "./table.js";
import { token } from "./token.js";

const [head, list] = ["head", "calls"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
const searchInput = h("input", { class: "input", id: "find", type: "search", spellcheck: "false", oninput: showCalls });
const found = h("div");
let hasFailed = false;

function show() {
  fill(head,
    h("div", { class: "row wrap apart" }, h("h1", { class: "row" }, icon("list"), "mallbox API"),
      h("div", { class: "row wrap" }, h("a", { class: "link", href: "/mall/manual/" }, t("手册", "Manual")),
        h("button", { class: "button bare", type: "button", lang: t("en", "zh-CN"), onclick: () => setLanguage(language() === "zh" ? "en" : "zh") }, t("English", "中文")))),
    h("p", { class: "quiet" }, t("全部接口，由代码生成。", "Every call of this mall, generated from the code.")));
  fill(list,
    h("form", { class: "access", autocomplete: "off", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
      h("div", { class: "field" }, h("label", { for: "token" }, t("令牌", "Token")), token.input),
      h("div", { class: "field" }, h("label", { for: "find" }, t("查找", "Find")), searchInput)),
    state(), token.said, found);
  showCalls();
}

function state() {
  if (hasFailed) return h("p", { class: "notice bad", role: "alert" }, t("无法读取 API 文档", "The API document cannot be read"));
  const { info } = apiDocument() ?? {};
  return h("p", { class: "quiet number" }, info ? `mallbox ${info.version} · ${calls().length} ${t("个接口", "calls")} · ${base || "/"}` : t("读取中…", "Loading…"));
}

function showCalls() {
  const whole = apiDocument();
  if (!whole) return fill(found, !hasFailed && h("div", { class: "stack" }, skeletons(6, "3rem")));
  const word = searchInput.value.toLowerCase();
  const wanted = calls().filter((call) => `${call.method} ${call.path} ${summaryOf(call.operation)} ${call.operation.summary}`.toLowerCase().includes(word));
  fill(found,
    whole.tags.map((/** @type {any} */ tag) => {
      const own = wanted.filter(({ operation }) => operation.tags.includes(tag.name));
      return own.length > 0 && h("section", null, h("h2", null, t(tag["x-name-zh"], tag.name)), own.map(callDetails));
    }),
    wanted.length === 0 && h("p", { class: "quiet" }, t("没有符合条件的接口。", "No calls found.")),
    h("section", null, h("h2", null, t("数据类型", "Schemas")), Object.entries(whole.components.schemas).map(schemaOf)));
  openAddressed();
}

/** @param {[string, import("./document.js").Schema]} schema */
function schemaOf([name, schema]) {
  return h("details", { id: `schema-${name}` }, h("summary", null, name),
    h("div", { class: "body stack" }, schema.description && h("p", null, schema.description), table(schemaRows(schema))));
}

/** Opens the call named in the address. */
function openAddressed() {
  const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) {
    named.open = true;
    named.scrollIntoView();
  }
}

async function start() {
  try {
    // The document has no envelope.
    setApiDocument(JSON.parse((await rawRequest("GET", "/openapi.json")).text));
  } catch {
    hasFailed = true;
  }
  show();
}

addEventListener("hashchange", openAddressed);
onLanguageChange(show);
show();
start();
