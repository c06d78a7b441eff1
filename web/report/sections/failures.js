// Runs that failed. A failed run is published as failed and counts in no figure.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chip } from "../../parts/chip.js";
import { workloadText } from "../words.js";
import { section } from "./section.js";

/** @param {import("../report.js").Report} report */
export function failures({ runs }) {
  const failed = runs.filter(({ run }) => run.failure !== null);
  if (failed.length === 0) return null;
  return section("failures", t("失败的运行", "Failed runs"),
    h("p", null, t(
      `${runs.length}轮中有${failed.length}轮失败。失败的运行不计入任何数据。`,
      `${failed.length} of ${runs.length} runs failed. Failed runs count in no figure.`)),
    h("ul", { class: "stack" }, failed.map(({ subject, run }) => h("li", { class: "card pad stack tight" },
      h("p", { class: "row wrap" }, chip(t("失败", "failed"), "bad"), h("strong", null, subject.name),
        h("span", null, workloadText(run.workload)), run.round !== null && h("span", { class: "quiet" }, t(`第${run.round}轮`, `round ${run.round}`))),
      h("p", { class: "small" }, h("code", { lang: "en" }, run.failure))))));
}
