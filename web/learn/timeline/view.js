// The view of one case: its verdict, its timeline, and the same events as sentences.

import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button, iconButton, linkButton } from "../../parts/button.js";
import { listing } from "../code/listing.js";
import { allTriggers, caseOf, rungOf } from "../ladder.js";
import { inline, titleOf, withCode } from "../prose.js";
import { addressOf } from "../routes.js";
import { expectedText, seenText, verdictChip } from "../verdict.js";
import { triggerName } from "../words.js";
import { clock } from "./clock.js";
import { drawTimeline } from "./drawing.js";
import { lanesOf } from "./lanes.js";
import { legend } from "./legend.js";
import { mistakeText } from "./mistakes.js";
import { modelOf } from "./model.js";
import { sentenceOf } from "./sentences.js";

/** @typedef {import("../server.js").Case} Case */
/** @typedef {import("../server.js").Rung} Rung */

/** The step of each case that was looked at, kept when the language changes. @type {WeakMap<Case, number>} */
const steps = new WeakMap();

/**
 * @param {import("../routes.js").Route} route
 * @param {AbortSignal} signal
 * @returns {import("../../core/dom.js").Leaf[]}
 */
export function timelineView({ chapter, rung: id, trigger }, signal) {
  const rung = rungOf(id);
  const case_ = caseOf(id, trigger);
  const back = linkButton(t("返回这一级", "Back to the rung"), addressOf(chapter, id), { icon: "back", look: ["bare"] });
  if (!rung || !case_ || case_.story.length === 0) {
    return [back, h("h1", null, triggerName(trigger)), h("p", null, t("这一格还没有运行过，没有时间线。", "Not run yet: there is no timeline."))];
  }
  const about = allTriggers().find(({ name }) => name === trigger)?.about;
  return [
    back,
    h("h1", { id: "timeline-title" }, t(`第${id}级，${triggerName(trigger)}`, `Rung ${id}, ${triggerName(trigger)}`)),
    h("p", { class: "measure" }, h("strong", null, titleOf(rung)), t("。", ". "), about && inline(about)),
    h("dl", { class: "facts verdict-facts" },
      fact(t("判定", "Verdict"), verdictChip(case_)),
      fact(t("预期", "Expected"), expectedText(case_.expected)),
      fact(t("实际", "Seen"), seenText(case_))),
    case_.mistake !== null && h("p", { class: "measure" }, mistakeNote(case_, case_.mistake)),
    stage(case_, rung, signal),
    h("details", null, h("summary", null, t("全部事件（文字）", "All events as text")), eventList(case_)),
    h("details", null, h("summary", null, t("这一级的代码", "The code of this rung")), listing(rung)),
  ];
}

/**
 * @param {string} name
 * @param {import("../../core/dom.js").Child} value
 */
function fact(name, value) {
  return h("div", null, h("dt", null, name), h("dd", null, value));
}

/**
 * Returns the drawing with its heads, the current event and the controls.
 * @param {Case} case_
 * @param {Rung} rung
 * @param {AbortSignal} signal
 */
function stage(case_, rung, signal) {
  const model = modelOf(case_, rung.instances);
  const last = case_.story.length - 1;
  let step = steps.get(case_) ?? 0;
  /** @type {import("./drawing.js").Drawing | null} */
  let drawing = null;

  const heads = h("div", { class: "tl-heads", "aria-hidden": "true" });
  const place = h("div", { class: "tl-place" });
  const where = h("p", { class: "tl-where" });
  const sentence = h("p", { class: "tl-sentence" });
  const first = iconButton("first", t("第一步", "First event"), () => go(0));
  const before = iconButton("up", t("上一步", "Previous event"), () => go(step - 1));
  const after = iconButton("down", t("下一步", "Next event"), () => go(step + 1));
  const end = iconButton("last", t("最后一步", "Last event"), () => go(last));
  const toMistake = case_.mistake !== null && button(t("出错处", "Mistake"), () => go(case_.mistake ?? 0), { icon: "warn" });
  const panel = h("div", { class: "tl-panel" },
    h("div", { role: "status", class: "tl-now" }, where, sentence),
    h("div", { class: "row tl-controls" }, first, before, after, end, toMistake));

  /** @param {number} to */
  function go(to) {
    step = Math.min(Math.max(to, 0), last);
    show();
    drawing?.rowAt(step).scrollIntoView({ block: "center", behavior: "instant" });
  }

  function show() {
    steps.set(case_, step);
    const event = case_.story[step];
    drawing?.select(step);
    fill(where, h("span", { class: "tl-step" }, `T${step + 1}`), ` / ${last + 1} · ${clock(event.at_us)}`);
    fill(sentence, withCode(sentenceOf(event)), step === case_.mistake && mistakeNote(case_, step));
    panel.classList.toggle("is-mistake", step === case_.mistake);
    for (const [control, isAtEnd] of /** @type {const} */ ([[first, step === 0], [before, step === 0], [after, step === last], [end, step === last]])) {
      control.setAttribute("aria-disabled", String(isAtEnd));
    }
  }

  const root = h("section", {
    class: "tl-stage", tabindex: 0, role: "group", "aria-labelledby": "timeline-title", "aria-describedby": "timeline-help",
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const to = target(event, step, last);
      if (to === null) return;
      event.preventDefault();
      go(to);
    },
  },
  h("p", { id: "timeline-help", class: "quiet small" }, t(
    "↑ ↓ 或 j k 逐步查看，Home、End 到两端；也可以点时间线上的事件。时间从上往下，长的空闲已剪掉。",
    "Step with ↑ ↓ or j k, Home and End; or select an event in the drawing. Time runs down, and long idle times are cut out.")),
  legend(model), heads, place, panel);

  const observer = new ResizeObserver(() => {
    const width = Math.floor(place.clientWidth);
    if (width === 0 || drawing?.root.getAttribute("width") === String(width)) return;
    const lanes = lanesOf(model, width);
    drawing = drawTimeline(model, lanes, go);
    root.classList.toggle("is-narrow", lanes.isNarrow);
    fill(heads, lanes.all.map(({ name, short, x }) => {
      const head = h("span", { class: "tl-head-name" }, lanes.isNarrow ? short : name);
      head.style.left = `${x}px`;
      return head;
    }));
    fill(place, drawing.root);
    show();
  });
  observer.observe(place);
  signal.addEventListener("abort", () => observer.disconnect());
  show();
  return root;
}

/**
 * Returns the event to which a key leads, if it leads to one.
 * @param {KeyboardEvent} event
 * @param {number} step
 * @param {number} last
 */
function target({ key, altKey, ctrlKey, metaKey }, step, last) {
  if (altKey || ctrlKey || metaKey) return null;
  switch (key) {
    case "ArrowUp": case "k": return step - 1;
    case "ArrowDown": case "j": return step + 1;
    case "Home": return 0;
    case "End": return last;
    default: return null;
  }
}

/**
 * @param {Case} case_
 * @param {number} index of the mistake
 */
function mistakeNote(case_, index) {
  return h("span", { class: "tl-mistake-note" }, h("strong", null, t(`⚠ T${index + 1}出错：`, `⚠ Goes wrong at T${index + 1}: `)), mistakeText(case_));
}

/** @param {Case} case_ */
function eventList(case_) {
  return h("ol", { class: "tl-list" }, case_.story.map((event, index) => h("li", index === case_.mistake ? { class: "is-mistake" } : null,
    h("span", { class: "tl-step" }, `T${index + 1} `), h("span", { class: "quiet" }, `${clock(event.at_us)} `),
    withCode(sentenceOf(event)), index === case_.mistake && mistakeNote(case_, index))));
}
