// The overview: what the page is, the whole ladder, and its rates.

import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { keepFocus } from "../../parts/keep-focus.js";
import { CHAPTERS } from "../chapters/index.js";
import { allRungs, currentJob, missingPrograms, onLadderChange, reportOf } from "../ladder.js";
import { say } from "../prose.js";
import { addressOf } from "../routes.js";
import { runButton } from "../run-buttons.js";
import { failureMeaning, failureName } from "../words.js";
import { missingNotice } from "./missing.js";
import { matrix } from "./matrix.js";
import { rateCharts } from "./rates.js";

const FAILURES = ["oversold", "bought_twice", "refused_while_left", "stuck", "lost", "books_off"];

/**
 * @param {AbortSignal} signal
 * @returns {HTMLElement[]}
 */
export function overview(signal) {
  const ladder = h("div", { class: "stack" });
  const rates = h("div", { class: "stack" });
  const replace = keepFocus(ladder);
  let shown = "";
  let shownRates = "";
  const update = () => {
    const version = [allRungs().length, currentJob()?.id, currentJob()?.done, currentJob()?.state].join();
    if (version === shown) return;
    shown = version;
    replace(() => fill(ladder, matrix()));
    const measured = JSON.stringify(allRungs().map(({ id }) => reportOf(id)?.speed));
    if (measured !== shownRates) fill(rates, rateCharts());
    shownRates = measured;
  };
  update();
  onLadderChange(update, signal);
  return [
    h("h1", { id: "chapter-title", tabindex: -1 }, t("谁在超卖", "Who oversells")),
    h("p", { class: "lead measure" }, t(
      "从“先查库存再扣减”到mallbox自己的做法，一级一级往上爬：每一级都在你这台机器上，用真的Redis和MariaDB当场运行，故意暂停、杀掉、切换，再把刚刚发生的事画成时间线。",
      "Climb from “read the stock, then write it” to the design of mallbox. Every rung runs live on your machine, on a real Redis and MariaDB; it is stopped, killed and failed over on purpose, and a timeline shows what has just happened.")),
    h("p", { class: "measure" }, t(
      "先点“从第6b级开始”，运行它，看一把人人都在用的锁怎么让同一个用户买到两件；想看全貌，就点“运行全部”。",
      "Begin with rung 6b: run it, and see how a lock that everybody uses sells two units to one user. For the whole picture press “Run all”.")),
    missingNotice(missingPrograms()),
    h("div", { class: "row wrap" },
      linkButton(t("从第6b级开始", "Begin with rung 6b"), "#/redis-locks/6b", { icon: "forward", look: ["main"] }),
      runButton(t("运行全部", "Run all"), () => ({ rungs: allRungs().map(({ id }) => id), repeat: 1 }), false, signal)),
    h("section", { class: "tight", "aria-labelledby": "ladder-title" },
      h("h2", { id: "ladder-title" }, t("整架梯子", "The whole ladder")),
      h("p", { class: "quiet small" }, t("行是做法，列是触发条件。点一格看它的时间线。", "Rows are rungs, columns are triggers. A cell leads to its timeline.")),
      ladder,
      h("details", null, h("summary", null, t("这些失败是什么意思", "What the failures mean")),
        h("dl", { class: "facts" }, FAILURES.map((failure) => h("div", null, h("dt", null, failureName(failure)), h("dd", null, failureMeaning(failure))))))),
    h("section", { "aria-labelledby": "rates-title" }, h("h2", { id: "rates-title" }, t("有多快", "How fast")), rates),
    h("section", { class: "tight", "aria-labelledby": "compared-title" },
      h("h2", { id: "compared-title" }, t("实测对比", "Comparisons")),
      h("ul", { class: "row wrap" }, CHAPTERS.filter(({ comparison }) => comparison).map(({ id, title }) => h("li", null, linkButton(say(title), addressOf(id)))))),
  ].filter((one) => one !== null);
}
