// The rules by which attempts to claim are judged, for all sales: text, preview on a sale, and the signals.

import { Refusal, call, get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button, linkButton, whileBusy } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { field } from "../../parts/field.js";
import { icon } from "../../parts/icons.js";
import { screenHeader } from "../../parts/screen-header.js";
import { confirmAction } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { SIGNALS, signalHelp, signalText } from "../attempt-names.js";
import { keepFormDraft } from "../pieces/form-draft.js";
import { numberValue } from "../pieces/number-value.js";
import { table } from "../pieces/table.js";

/** @typedef {{rules: string, isDefault: boolean}} Rules `rules`: TOML */
/** @typedef {{now: number, then: number}} Change by the present rules, and by the previewed ones */
/**
 * @typedef {{attempts: number, suspicious: Change, accepted: Change, signals: {signal: string, attempts: number}[]}}
 * Preview `accepted`: attempts that look automated, but got a unit
 */

const PATH = "/ops/judgement/rules";
const LINES = 24;
/** Number of a line, and of a rule, in a message of the mall. */
const LINE_PATTERN = /第\s*(\d+)\s*行|line (\d+)/;
const RULE_PATTERN = /第\s*(\d+)\s*条规则|rule (\d+)/;
/** First line of a rule. */
const RULE_START = /^\s*\[\[\s*rules\s*\]\]/;

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title }) {
  const name = t("风控规则", "Judgement rules");
  title(name);
  const place = h("div", { class: "stack" }, skeletons(1, "30rem"));
  root.append(screenHeader(name, { home: params.sale ? `/sale/${params.sale}` : "/security" }),
    h("p", { class: "quiet intro" }, t("每次抢购得到所有符合的规则的分数之和，达到阈值的视为疑似脚本。怎么处理，由每场秒杀的“风控”决定。",
      "An attempt scores the points of all rules that it matches, and looks automated from the limit on. What happens then is up to the judgement of each sale.")), place);
  /** @type {Rules} */
  const rules = await get(PATH, { signal });
  const editor = rulesEditor(rules);
  fill(place, editor.root, previewSection(editor.text, editor.refuse, params.sale), signalsSection());
}

/** @param {Rules} rules */
function rulesEditor({ rules, isDefault }) {
  const title = t("规则", "Rules");
  const text = field(t("规则内容", "Text of the rules"), "textarea", { class: "rules-text mono", rows: LINES, required: true, spellcheck: "false", autocapitalize: "none", autocomplete: "off", wrap: "off" });
  text.input.value = rules;
  const save = h("button", { type: "submit", class: "button main" }, t("保存", "Save"));
  const restore = button(t("恢复默认规则", "Restore the default"), restoreDefault);
  const origin = h("span", { role: "status" });
  const form = h("form", { class: "stack", novalidate: true, onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    whileBusy(save, saveText);
  } }, text.root, h("div", { class: "row wrap" }, save, restore));
  const discardDraft = keepFormDraft(form);
  showOrigin(isDefault);
  return {
    root: h("section", { class: "card pad stack", "aria-label": title }, h("div", { class: "row wrap" }, h("h2", { class: "grow" }, title), origin), form),
    text: () => text.input.value,
    refuse,
  };

  async function saveText() {
    text.wrong("");
    if (!text.input.value.trim()) return text.wrong(t("请填写", "This field is required"));
    const isSure = await confirmAction(t("保存规则？", "Save the rules?"), t("所有开启风控的秒杀都会改用新规则。", "All sales with a judgement follow the new rules."), t("保存", "Save"));
    if (isSure) await put(text.input.value, t("规则已保存", "Rules saved"));
  }

  async function restoreDefault() {
    text.wrong("");
    const isSure = await confirmAction(t("恢复默认规则？", "Restore the default rules?"), t("现在的规则会被替换，无法找回。", "The present rules are replaced, and cannot be brought back."), t("恢复", "Restore"), { danger: true });
    if (isSure) await put("", t("已恢复默认规则", "Default rules restored"));
  }

  /**
   * @param {string} wanted the default if empty
   * @param {string} success
   */
  async function put(wanted, success) {
    try {
      const { data } = await call("PUT", PATH, { body: { rules: wanted } });
      text.input.value = data.rules;
      discardDraft();
      showOrigin(data.isDefault);
      showToast(success);
    } catch (error) {
      if (!refuse(error)) throw error;
    }
  }

  /**
   * Shows a refusal of the text at the field and selects the line concerned.
   * @param {unknown} error
   * @returns {boolean} whether the error was about the text
   */
  function refuse(error) {
    if (!(error instanceof Refusal) || error.status !== 400) return false;
    text.wrong(error.message);
    const line = lineOf(error.message, text.input.value);
    if (line > 0) selectLine(text.input, line);
    return true;
  }

  /** @param {boolean} isDefaultNow */
  function showOrigin(isDefaultNow) {
    restore.hidden = isDefaultNow;
    fill(origin, isDefaultNow ? chip(t("默认规则", "Default rules")) : chip(t("已修改", "Changed"), "accent"));
  }
}

/**
 * Returns the number of the line that a message is about; 0 if unknown.
 * @param {string} message
 * @param {string} text
 */
function lineOf(message, text) {
  const line = numberIn(message, LINE_PATTERN);
  if (line > 0) return line;
  const starts = text.split("\n").flatMap((part, index) => (RULE_START.test(part) ? [index + 1] : []));
  return starts[numberIn(message, RULE_PATTERN) - 1] ?? 0;
}

/**
 * @param {string} message
 * @param {RegExp} pattern
 */
function numberIn(message, pattern) {
  const [, chinese, english] = pattern.exec(message) ?? [];
  return Number(chinese ?? english ?? 0);
}

/**
 * @param {HTMLTextAreaElement} area
 * @param {number} number from 1
 */
function selectLine(area, number) {
  const before = area.value.split("\n").slice(0, number - 1).join("\n").length;
  const start = number > 1 ? before + 1 : 0;
  const end = area.value.indexOf("\n", start);
  area.setSelectionRange(start, end < 0 ? area.value.length : end);
  // The selection of a form is not scrolled to by itself.
  area.scrollTop = (area.scrollHeight / area.value.split("\n").length) * Math.max(number - 3, 0);
}

/**
 * @param {() => string} text the edited rules
 * @param {(error: unknown) => boolean} refuse shows a refusal of the text
 * @param {string | undefined} chosen id of the sale
 */
function previewSection(text, refuse, chosen) {
  const title = t("预览", "Preview");
  const sale = field(t("秒杀编号", "Id of the sale"), "input", { type: "number", min: 1, step: 1, inputmode: "numeric", required: true, value: chosen });
  const submit = h("button", { type: "submit", class: "button" }, t("预览", "Preview"));
  const result = h("div", { class: "stack preview-result", role: "status" });
  return h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title),
    h("p", { class: "quiet" }, t("用上面的规则重新计算一场秒杀最近的 10,000 次抢购，不保存规则。", "Applies the rules above to the last 10,000 attempts at a sale. Saves nothing.")),
    h("form", { class: "stack", novalidate: true, onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      whileBusy(submit, preview);
    } }, h("div", { class: "fields" }, sale.root), h("div", { class: "row wrap" }, submit)), result);

  async function preview() {
    sale.wrong("");
    const id = numberValue(sale.input);
    if (id === undefined || !Number.isInteger(id) || id < 1) return sale.wrong(t("请填写秒杀编号", "Enter the id of a sale"));
    fill(result);
    try {
      const { data } = await call("POST", `/ops/sales/${id}/judgement/preview`, { body: { rules: text() } });
      fill(result, previewResult(data, id));
    } catch (error) {
      if (refuse(error)) return;
      if (!(error instanceof Refusal) || error.isTrouble) throw error;
      sale.wrong(error.message);
    }
  }
}

/**
 * @param {Preview} preview
 * @param {number} sale
 */
function previewResult({ attempts, suspicious, accepted, signals }, sale) {
  if (attempts === 0) return [h("p", { class: "notice" }, icon("list"), t("这场秒杀还没有抢购记录，请先开启风控，选“只记录”。", "No attempts at this sale are logged yet: turn on its judgement with “Log only” first."))];
  const rows = [
    { name: t("疑似脚本", "Look automated"), ...suspicious },
    { name: t("疑似脚本，但抢到了", "Look automated, but got a unit"), ...accepted },
  ];
  return [
    h("h3", null, t(`最近 ${attempts.toLocaleString()} 次抢购`, `Last ${attempts.toLocaleString()} attempts`)),
    h("div", { class: "listing" }, table(t("预览结果", "Result of the preview"), [
      { title: t("抢购", "Attempts"), cell: ({ name }) => name },
      { title: t("现行规则", "Present rules"), look: "number", cell: ({ now }) => now.toLocaleString() },
      { title: t("新规则", "New rules"), look: "number", cell: ({ then }) => then.toLocaleString() },
    ], rows)),
    accepted.then > 0 && h("p", { class: "notice bad" }, icon("warn"), t(`这些规则会影响 ${accepted.then.toLocaleString()} 次抢到的抢购。他们可能是真人，请查看抢购记录。`,
      `These rules would have hit ${accepted.then.toLocaleString()} attempts that got a unit. Check in the log whether those are people.`)),
    signals.length > 0 && h("dl", { class: "counts" }, signals.map(({ signal, attempts: count }) =>
      h("div", null, h("dt", null, signalText(signal)), h("dd", { class: "number" }, count.toLocaleString())))),
    h("div", { class: "row wrap" }, linkButton(t("抢购记录", "Attempts"), `#/sale/${sale}/attempts`, { icon: "list" })),
  ];
}

function signalsSection() {
  const title = t("信号", "Signals");
  return h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title),
    h("p", { class: "quiet" }, t("信号的值大于等于", "A rule adds its "), code(t("at-least", "points")), t("，或者小于", " where its signal is at least "), code(t("below", "at-least")),
      t("时，规则加上", ", or below "), code(t("points", "below")), t("分。没有值的信号不计分。", ". A signal without a value adds nothing.")),
    h("dl", { class: "stack" }, SIGNALS.map((signal) => h("div", null,
      h("dt", { class: "row wrap" }, h("strong", null, signalText(signal)), code(signal)), h("dd", { class: "quiet" }, signalHelp(signal))))));
}

/** @param {string} text */
function code(text) {
  return h("code", { class: "mono" }, text);
}
