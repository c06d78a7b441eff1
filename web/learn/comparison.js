// A comparison in its chapter: the ways, a run, and the tables of the newest result.

import { fill, h } from "../core/dom.js";
import { language, t } from "../core/language.js";
import { keepFocus } from "../parts/keep-focus.js";
import { stateText } from "./job-bar.js";
import { comparisonOf, currentJob, missingPrograms, onLadderChange, sectionOf } from "./ladder.js";
import { missingNotice } from "./overview/missing.js";
import { inline } from "./prose.js";
import { runButton } from "./run-buttons.js";

/** @typedef {import("./chapters/index.js").Comparison} Comparison */

/**
 * @param {Comparison} comparison
 * @param {AbortSignal} signal
 */
export function comparisonSections(comparison, signal) {
  return [ways(comparison), runs(comparison, signal)];
}

/** @param {Comparison} comparison */
function ways({ name, zh }) {
  const listed = comparisonOf(name)?.ways ?? [];
  const own = language() === "zh" ? zh : {};
  return h("section", { class: "tight", "aria-labelledby": `ways-${name}` },
    h("h2", { id: `ways-${name}` }, t("比的是什么", "What is compared")),
    h("dl", { class: "ways" }, listed.map(({ way, about }) => h("div", null, h("dt", null, h("code", null, way)), own[way] ? h("dd", null, own[way]) : h("dd", { lang: "en" }, about)))));
}

/**
 * @param {Comparison} comparison
 * @param {AbortSignal} signal
 */
function runs({ name, about, draw }, signal) {
  const status = h("p", { class: "quiet small", role: "status" });
  const results = h("div", { class: "stack" });
  const replace = keepFocus(results);
  let shown = /** @type {unknown} */ (undefined);
  const update = () => {
    const job = currentJob();
    const line = job?.comparison === name ? stateText(job) : "";
    if (status.textContent !== line) status.textContent = line;
    const section = sectionOf(name);
    if (section === shown) return;
    shown = section;
    replace(() => fill(results, section === null ? h("p", { class: "quiet" }, t("还没运行。", "Not run yet.")) : draw(section)));
  };
  update();
  onLadderChange(update, signal);
  return h("section", { "aria-labelledby": `results-${name}` },
    h("h2", { id: `results-${name}`, tabindex: -1 }, t("运行和结论", "Run and verdicts")),
    missingNotice(missingPrograms()),
    h("div", { class: "row wrap" },
      runButton(t("运行对比", "Run the comparison"), () => ({ comparison: name }), true, signal),
      h("span", { class: "quiet small grow" }, inline(about))),
    status, results);
}
