// What may mislead in the results.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { unique } from "../report.js";
import { warningText } from "../words.js";
import { section } from "./section.js";

/** @param {import("../report.js").Report} report */
export function warnings({ results }) {
  const machines = unique(results.map(({ machine }) => JSON.stringify(machine)));
  const items = [
    machines.length > 1 && h("li", { class: "notice warn" }, t(
      "这些结果来自不同的机器，彼此不排名次。",
      "The results come from different machines, so they are not ranked against each other.")),
    ...results.flatMap((result, index) => unique(result.warnings.map(({ code }) => code)).map((code) => h("li", { class: code === "system_wrong" ? "notice bad" : "notice warn" },
      h("p", null, h("strong", null, results.length > 1 && t(`结果（${index + 1}）：`, `Result (${index + 1}): `), warningText(code))),
      result.warnings.filter((one) => one.code === code && one.text !== "").map(({ text }) => h("p", { class: "small", lang: "en" }, text))))),
  ].filter((item) => item !== false);
  return items.length === 0 ? null : section("warnings", t("注意", "Warnings"), h("ul", { class: "stack" }, items));
}
