// Renders /openapi.json: calls by area, what they take and answer, and a form to try each. Every text is set as text.

const $ = (id) => document.getElementById(id);

const WORDS = {
  zh: {
    loading: "读取中…", gone: "无法读取 API 文档", calls: "个调用", login: "需登录", operator: "需商家", parameters: "参数",
    body: "请求体", answers: "应答", example: "示例", name: "名称", type: "类型", meaning: "含义", required: "必填",
    place: { path: "路径", query: "查询", header: "请求头" }, send: "发送", sending: "发送中…", failed: "没有应答",
    took: "毫秒", kept: "已登录：令牌已填好", status: "状态", other: "English", tryIt: "试一试",
  },
  en: {
    loading: "Loading…", gone: "The API's description cannot be read", calls: "calls", login: "log-in",
    operator: "operator", parameters: "Parameters", body: "Body", answers: "Answers", example: "Example", name: "Name",
    type: "Type", meaning: "Meaning", required: "required", place: { path: "path", query: "query", header: "header" },
    send: "Send", sending: "Sending…", failed: "No answer", took: "ms", kept: "Logged in: the token is filled in",
    status: "Status", other: "中文", tryIt: "Try it",
  },
};

let language = kept("mallbox-language") ?? (navigator.language.startsWith("zh") ? "zh" : "en");
let api = "";
let doc = null;
let failed = false;

function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // A browser that keeps nothing still shows the page.
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Then it is asked for again next time.
  }
}

const words = () => WORDS[language] ?? WORDS.zh;

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** The object itself, or what it points at. */
function resolved(object) {
  const path = object?.$ref?.slice(2).split("/");
  return path ? resolved(path.reduce((at, name) => at?.[name], doc)) : object;
}

/** What a schema is, in a word or two, with a link to those that have a name. */
function typeOf(schema) {
  if (!schema) return [""];
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    const link = element("a", name);
    link.href = `#schema-${name}`;
    return [link];
  }
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  const several = schema.oneOf ?? schema.anyOf;
  if (several) return several.flatMap((one, at) => (at ? [" | ", ...typeOf(one)] : typeOf(one)));
  if (schema.type === "array") return [...typeOf(schema.items), "[]"];
  return [[schema.type].flat().filter((type) => type && type !== "null").join(" | ")];
}

/** A value that fits: the example of each field, or the simplest thing of its type. */
function exampleOf(schema, depth = 0) {
  const whole = resolved(schema);
  if (!whole || depth > 8) return null;
  if (whole.examples?.length) return whole.examples[0];
  if (whole.const !== undefined) return whole.const;
  if (whole.enum?.length) return whole.enum[0];
  const several = whole.allOf ?? whole.oneOf ?? whole.anyOf;
  if (!whole.type && several) return exampleOf(several.find((one) => one.type !== "null"), depth + 1);
  switch ([whole.type].flat().find((type) => type !== "null")) {
    case "object": return Object.fromEntries(Object.entries(whole.properties ?? {})
      .map(([name, field]) => [name, exampleOf(field, depth + 1)]));
    case "array": return [exampleOf(whole.items, depth + 1)];
    case "integer": case "number": return Math.max(1, whole.minimum ?? 1);
    case "boolean": return true;
    default: return whole.default ?? "";
  }
}

function table(rows) {
  const w = words();
  const around = element("div", undefined, "scroll");
  const made = element("table");
  const head = made.createTHead().insertRow();
  head.append(...[w.name, w.type, w.meaning].map((text) => element("th", text)));
  const body = made.createTBody();
  for (const { name, type, meaning } of rows) {
    const row = body.insertRow();
    row.insertCell().textContent = name;
    row.insertCell().append(...type);
    row.insertCell().textContent = meaning.filter(Boolean).join(" · ");
  }
  around.append(made);
  return around;
}

function fields(schema) {
  const w = words();
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name, type: typeOf(field),
    meaning: [schema.required?.includes(name) && w.required, field.description, field.enum?.join(" ")],
  }));
}

function callOf(path, method, operation) {
  const w = words();
  const made = element("details");
  made.id = operation.operationId;
  const head = element("summary");
  head.append(element("span", method.toUpperCase(), `method ${method}`), element("span", path, "path"),
    element("span", summaryOf(operation), "does"));
  const needs = operation["x-role"] === "operator" ? w.operator
    : operation.security.some((way) => way.token) && operation.security.every((way) => way.token) ? w.login : "";
  if (needs) head.append(element("span", needs, "needs"));
  made.append(head);
  // Made when it is looked at: a page of forty forms is slow on a phone.
  made.addEventListener("toggle", () => {
    if (made.open && made.childElementCount === 1) made.append(bodyOf(path, method, operation));
  });
  return made;
}

const summaryOf = (operation) => (language === "zh" ? operation["x-summary-zh"] : operation.summary);

function bodyOf(path, method, operation) {
  const w = words();
  const made = element("div", undefined, "body");
  const parameters = operation.parameters ?? [];
  if (parameters.length) {
    made.append(element("h3", w.parameters), table(parameters.map(({ name, in: place, required, schema, description }) =>
      ({ name, type: typeOf(schema), meaning: [w.place[place], required && w.required, description] }))));
  }
  const [kind, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const body = content?.schema;
  if (body) made.append(element("h3", w.body), table(fields(resolved(body))));
  made.append(element("h3", w.answers), table(Object.entries(operation.responses).map(([status, answer]) => {
    const whole = resolved(answer);
    const schema = whole.content?.["application/json"].schema;
    const said = language === "zh" ? whole["x-description-zh"] ?? whole.description : whole.description;
    return { name: status, type: answerType(schema), meaning: [said] };
  })));
  const good = operation.responses[200]?.content?.["application/json"].schema;
  const shown = exampleOf(good?.oneOf?.[0] ?? good);
  if (shown && Object.keys(shown).length) made.append(element("h3", w.example), element("pre", JSON.stringify(shown, null, 2)));
  made.append(element("h3", w.tryIt), formOf(path, method, parameters, kind, body));
  return made;
}

/** Of an envelope, what stands in `data`. */
function answerType(schema) {
  const data = schema?.oneOf?.[0]?.properties?.data;
  return data ? typeOf(data) : schema?.oneOf ? ["—"] : typeOf(schema);
}

function formOf(path, method, parameters, kind, body) {
  const w = words();
  const form = element("form");
  const inputs = parameters.map((parameter) => {
    const label = element("label", parameter.name);
    const input = element("input");
    input.required = parameter.required;
    input.placeholder = parameter.schema.examples?.[0] ?? parameter.schema.anyOf?.[0].examples?.[0] ?? "";
    input.value = parameter.required ? parameter.schema.examples?.[0] ?? exampleOf(parameter.schema) : "";
    label.append(input);
    form.append(label);
    return { ...parameter, input };
  });
  const written = { "application/json": jsonField, "multipart/form-data": fileField }[kind]?.(form, body);
  const button = element("button", w.send);
  const said = element("pre", "", "wide");
  said.hidden = true;
  said.setAttribute("role", "status");
  form.append(button, said);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send({ path, method, inputs, body: written?.() }, button, said);
  });
  return form;
}

/** Answers what reads the body that is written in it. */
function jsonField(form, body) {
  const label = element("label", words().body, "wide");
  const text = element("textarea");
  text.value = JSON.stringify(exampleOf(body), null, 2);
  text.spellcheck = false;
  label.append(text);
  form.append(label);
  return () => text.value;
}

/** The same for the one file of a form. */
function fileField(form, body) {
  const [name] = Object.keys(body.properties);
  const label = element("label", name, "wide");
  const input = element("input");
  input.type = "file";
  input.required = true;
  label.append(input);
  form.append(label);
  return () => {
    const filled = new FormData();
    filled.append(name, input.files[0]);
    return filled;
  };
}

async function send({ path, method, inputs, body }, button, said) {
  const w = words();
  const of = (place) => inputs.filter(({ in: at, input }) => at === place && input.value !== "");
  const filled = of("path").reduce(
    (at, { name, input }) => at.replace(`{${name}}`, encodeURIComponent(input.value)), path);
  const query = new URLSearchParams(of("query").map(({ name, input }) => [name, input.value])).toString();
  const headers = Object.fromEntries(of("header").map(({ name, input }) => [name, input.value]));
  headers["accept-language"] = language;
  if ($("token").value) headers.authorization = $("token").value.trim();
  // Of a form with a file, the browser itself says what it is.
  if (typeof body === "string") headers["content-type"] = "application/json";
  button.disabled = true;
  said.hidden = false;
  said.textContent = w.sending;
  const began = performance.now();
  try {
    const answer = await fetch(api + filled + (query && `?${query}`), {
      method: method.toUpperCase(), headers, body, signal: AbortSignal.timeout(10_000),
    });
    const text = await answer.text();
    said.textContent = `${w.status} ${answer.status} · ${Math.round(performance.now() - began)} ${w.took}\n${pretty(text)}`;
    if (path === "/user/login") useToken(text);
  } catch (error) {
    said.textContent = `${w.failed}: ${error.message}`;
  }
  button.disabled = false;
}

/** Broken into lines, without reading the numbers: an order's id would be rounded. */
function pretty(text) {
  let depth = 0;
  return text.replace(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (token) => {
    const line = () => `\n${"  ".repeat(depth)}`;
    if (token === "{" || token === "[") { depth += 1; return token + line(); }
    if (token === "}" || token === "]") { depth -= 1; return line() + token; }
    if (token === ",") return token + line();
    return token === ":" ? ": " : token;
  }).replace(/([{[])\s+([}\]])/g, "$1$2");
}

function useToken(text) {
  const { success, data } = JSON.parse(text);
  if (!success) return;
  $("token").value = data;
  $("state").textContent = words().kept;
}

function show() {
  const w = words();
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const part of document.querySelectorAll("[data-zh]")) part.textContent = part.dataset[language];
  const other = $("language");
  other.textContent = w.other;
  other.lang = language === "zh" ? "en" : "zh-CN";
  $("state").classList.toggle("bad", failed);
  if (!doc) {
    $("state").textContent = failed ? w.gone : w.loading;
    return;
  }
  const calls = Object.entries(doc.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })));
  $("state").textContent = `mallbox ${doc.info.version} · ${calls.length} ${w.calls} · ${api || "/"}`;
  const sought = $("find").value.toLowerCase();
  const found = calls.filter(({ path, method, operation }) =>
    `${method} ${path} ${operation.summary} ${operation["x-summary-zh"]}`.toLowerCase().includes(sought));
  $("calls").replaceChildren(...doc.tags.flatMap((tag) => {
    const own = found.filter(({ operation }) => operation.tags.includes(tag.name));
    if (!own.length) return [];
    const section = element("section");
    section.append(element("h2", language === "zh" ? tag["x-name-zh"] : tag.name),
      ...own.map(({ path, method, operation }) => callOf(path, method, operation)));
    return [section];
  }));
  $("schemas").replaceChildren(...Object.entries(doc.components.schemas).map(([name, schema]) => {
    const made = element("details");
    made.id = `schema-${name}`;
    const body = element("div", undefined, "body");
    if (schema.description) body.append(element("p", schema.description));
    body.append(table(fields(schema)));
    made.append(element("summary", name), body);
    return made;
  }));
  unfold();
}

/** Opens what the address names. */
function unfold() {
  const named = location.hash && $(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) {
    named.open = true;
    named.scrollIntoView();
  }
}

async function read(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(5000) });
  if (!answer.ok && answer.status !== 503) throw new Error(answer.statusText);
  return answer.json();
}

async function start() {
  try {
    // Where the API is, the mall knows; a closed one (503) says it too.
    api = (await read("/readyz")).api ?? "/api";
    doc = await read(`${api}/openapi.json`);
  } catch {
    failed = true;
  }
  show();
}

$("language").addEventListener("click", () => {
  language = language === "zh" ? "en" : "zh";
  keep("mallbox-language", language);
  show();
});
$("find").addEventListener("input", show);
$("access").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", unfold);
show();
start();
