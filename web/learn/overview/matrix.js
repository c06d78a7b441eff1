// The ladder as a table: rungs by chapter, triggers, and the verdicts so far.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { CHAPTERS, chapterOf } from "../chapters/index.js";
import { allRungs, allTriggers, caseOf, rungOf } from "../ladder.js";
import { joined, say, titleOf } from "../prose.js";
import { addressOf } from "../routes.js";
import { hasPassed } from "../verdict.js";
import { failureName, triggerShort } from "../words.js";

/** @typedef {import("../server.js").Rung} Rung */

export function matrix() {
  const triggers = allTriggers();
  const apart = allRungs().filter(({ id }) => !chapterOf(id));
  const groups = [
    ...CHAPTERS.map(({ id, title, rungs }) => ({ chapter: id, title: say(title), rungs: rungs.map(([rung]) => rungOf(rung)).filter((rung) => rung !== null) })),
    { chapter: "", title: t("其他", "Others"), rungs: apart },
  ].filter(({ rungs }) => rungs.length > 0);
  const name = t("各级在各触发条件下的判定", "Verdicts of rungs by trigger");
  return h("div", { class: "table-box", role: "group", tabindex: 0, "aria-label": name },
    h("table", { class: "matrix", "aria-label": name },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, t("级", "Rung")), triggers.map((trigger) => h("th", { scope: "col" }, triggerShort(trigger.name))))),
      groups.map(({ chapter, title, rungs }) => h("tbody", null,
        h("tr", { class: "matrix-chapter" }, h("th", { scope: "rowgroup", colspan: triggers.length + 1 }, chapter === "" ? title : h("a", { href: addressOf(chapter) }, title))),
        rungs.map((rung) => h("tr", null,
          h("th", { scope: "row" }, rungName(chapter, rung)),
          triggers.map((trigger) => cell(chapter, rung, trigger.name))))))));
}

/**
 * @param {string} chapter
 * @param {Rung} rung
 */
function rungName(chapter, rung) {
  const parts = [h("span", { class: "rung-id" }, rung.id), h("span", { class: "rung-title" }, titleOf(rung))];
  return chapter === "" ? h("span", null, parts) : h("a", { href: addressOf(chapter, rung.id) }, parts);
}

/**
 * @param {string} chapter
 * @param {Rung} rung
 * @param {string} trigger
 */
function cell(chapter, rung, trigger) {
  if (!rung.triggers.some(({ name }) => name === trigger)) return h("td", { class: "none" }, mark("–", t("不适用", "does not apply")));
  const case_ = caseOf(rung.id, trigger);
  if (!case_) return h("td", { class: "open" }, mark("·", t("还没运行", "not run yet")));
  const differs = case_.as_expected ? "" : t("与预期不同", "differs from what was expected");
  const failures = joined(Object.keys(case_.seen).map(failureName));
  const [look, sign, text] = case_.errors.length > 0 ? ["open", "?", t("没有结果", "no verdict")]
    : hasPassed(case_) ? ["good", "✓", t("通过", "passes")] : ["bad", "✗", failures];
  const content = mark(differs === "" ? sign : `${sign} ≠`, text, differs);
  return h("td", { class: differs === "" ? look : `${look} differs` },
    chapter !== "" && case_.story.length > 0 ? h("a", { href: addressOf(chapter, rung.id, trigger) }, content) : content);
}

/**
 * @param {string} sign
 * @param {string} text
 * @param {string} [more]
 */
function mark(sign, text, more = "") {
  return h("span", { class: "matrix-mark" }, h("span", { class: "matrix-sign", "aria-hidden": "true" }, sign),
    h("span", { class: "matrix-text" }, more === "" ? text : `${text}${t("，", ", ")}${more}`));
}
