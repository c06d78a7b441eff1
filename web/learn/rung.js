// A rung in its chapter: the idea, the code, a run, and the verdicts.

import { fill, h } from "../core/dom.js";
import { t } from "../core/language.js";
import { keepFocus } from "../parts/keep-focus.js";
import { button, linkButton } from "../parts/button.js";
import { rate, rounded } from "../report/number.js";
import { definitions } from "../report/sections/section.js";
import { listing } from "./code/listing.js";
import { stateText } from "./job-bar.js";
import { allTriggers, caseOf, currentJob, onLadderChange, reportOf, rungOf } from "./ladder.js";
import { inline, titleOf } from "./prose.js";
import { addressOf } from "./routes.js";
import { runButton } from "./run-buttons.js";
import { expectedText, seenText, verdictChip } from "./verdict.js";
import { triggerName } from "./words.js";

/** @typedef {import("./server.js").Rung} Rung */

/** Runs per trigger of the second button. */
const OFTEN = 10;

/**
 * @param {string} chapter id
 * @param {string} id of the rung
 * @param {import("./chapters/index.js").Idea} idea
 * @param {AbortSignal} signal
 */
export function rungSection(chapter, id, idea, signal) {
  const rung = rungOf(id);
  const heading = `rung-${id}`;
  return h("section", { class: "rung", id: `section-${id}`, "aria-labelledby": heading },
    h("h2", { id: heading, tabindex: -1 }, h("span", { class: "rung-id" }, id), " ", rung ? titleOf(rung) : t("（这个版本还没有）", "(not in this version)")),
    h("dl", { class: "idea" },
      part(t("怎么做", "What it does"), inline(idea.does)),
      part(t("为什么有人信", "Why people believe in it"), inline(idea.belief)),
      part(t("结果如何", "What comes of it"), inline(idea.price))),
    rung && [
      codeHeading(id), listing(rung),
      h("h3", { id: `verdicts-${id}`, tabindex: -1 }, t("判定", "Verdicts")), runs(chapter, rung, signal),
    ]);
}

/**
 * Returns the heading of the code, which may be long, with a way past it.
 * @param {string} id of the rung
 */
function codeHeading(id) {
  const skip = () => {
    const heading = document.getElementById(`verdicts-${id}`);
    heading?.focus({ preventScroll: true });
    heading?.scrollIntoView();
  };
  return h("div", { class: "row wrap apart" }, h("h3", null, t("代码", "Code")),
    button(t("跳到运行和判定", "Skip to run and verdicts"), skip, { icon: "down", look: ["bare"] }));
}

/**
 * @param {string} name
 * @param {import("../core/dom.js").Child} value
 */
function part(name, value) {
  return h("div", null, h("dt", null, name), h("dd", null, value));
}

/**
 * @param {string} chapter
 * @param {Rung} rung
 * @param {AbortSignal} signal
 */
function runs(chapter, rung, signal) {
  const status = h("p", { class: "quiet small", role: "status" });
  const verdicts = h("div", { class: "stack" });
  const replace = keepFocus(verdicts);
  const instances = rung.instances === 1 ? t("1个实例", "1 instance") : t(`${rung.instances}个实例`, `${rung.instances} instances`);
  let shown = /** @type {unknown} */ (undefined);
  const update = () => {
    const job = currentJob();
    const isMine = job?.rungs.includes(rung.id) ?? false;
    const line = job && isMine ? stateText(job) : "";
    if (status.textContent !== line) status.textContent = line;
    const report = reportOf(rung.id);
    if (report === shown) return;
    shown = report;
    replace(() => fill(verdicts, table(chapter, rung), report?.speed && speed(report.speed)));
  };
  update();
  onLadderChange(update, signal);
  return h("div", { class: "stack" },
    h("div", { class: "row wrap" },
      runButton(t("运行", "Run"), () => ({ rungs: [rung.id], repeat: 1 }), true, signal),
      runButton(t(`每项运行${OFTEN}次`, `Run each ${OFTEN} times`), () => ({ rungs: [rung.id], repeat: OFTEN }), false, signal),
      h("span", { class: "quiet small" }, instances)),
    status, verdicts);
}

/**
 * Returns the verdicts as a table, whose rows become cards where the page is narrow: hence the roles.
 * @param {string} chapter
 * @param {Rung} rung
 */
function table(chapter, rung) {
  const columns = [t("触发条件", "Trigger"), t("预期", "Expected"), t("实际", "Seen"), t("判定", "Verdict"), t("时间线", "Timeline")];
  const cell = (/** @type {number} */ column, /** @type {import("../core/dom.js").Child} */ content) =>
    h("td", { role: "cell", class: `cell-${column}` }, h("span", { class: "cell-name", "aria-hidden": "true" }, columns[column]), h("span", null, content));
  return h("table", { class: "data verdicts", role: "table", "aria-label": t(`第${rung.id}级的判定`, `Verdicts of rung ${rung.id}`) },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map((name) => h("th", { scope: "col", role: "columnheader" }, name)))),
    h("tbody", { role: "rowgroup" }, rung.triggers.map(({ name, expected }) => {
      const case_ = caseOf(rung.id, name);
      const about = allTriggers().find((one) => one.name === name)?.about;
      return h("tr", { role: "row" },
        h("th", { scope: "row", role: "rowheader" }, h("strong", null, triggerName(name)), about && h("span", { class: "under" }, inline(about))),
        cell(1, expectedText(expected)),
        cell(2, case_ ? seenText(case_) : h("span", { class: "quiet" }, t("还没运行", "not run yet"))),
        cell(3, case_ ? verdictChip(case_) : "–"),
        cell(4, case_ && case_.story.length > 0 ? timelineLink(chapter, rung.id, name) : "–"));
    })));
}

/**
 * @param {string} chapter
 * @param {string} id
 * @param {string} trigger
 */
function timelineLink(chapter, id, trigger) {
  const link = linkButton(t("时间线", "Timeline"), addressOf(chapter, id, trigger));
  link.setAttribute("aria-label", t(`时间线：${triggerName(trigger)}`, `Timeline: ${triggerName(trigger)}`));
  return link;
}

/** @param {{accepted_per_s: number, persisted_per_s: number, p99_ms: number}} speed */
function speed({ accepted_per_s: accepted, persisted_per_s: persisted, p99_ms: p99 }) {
  return definitions([
    [t("每秒答应", "accepted per second"), h("span", { class: "figure" }, rate(accepted))],
    [t("每秒落库", "persisted per second"), h("span", { class: "figure" }, rate(persisted))],
    [t("应答p99", "p99 of responses"), h("span", { class: "figure" }, t(`${rounded(p99)}毫秒`, `${rounded(p99)}\u00a0ms`))],
  ], "tiles");
}
