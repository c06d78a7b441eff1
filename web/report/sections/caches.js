// Ways to cache reads: what fails, and costs. `mallbox learn` shows them too.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { duration, rate, rounded } from "../number.js";
import { cacheQuestionText, cacheVerdictText } from "../reads-words.js";
import { numberColumn, table } from "../table.js";
import { verdictTable } from "../verdict-table.js";
import { numberedWays, wayChart } from "../way-chart.js";
import { panels, section } from "./section.js";

/** @typedef {import("../result.js").Caches} Caches */
/** @typedef {import("../result.js").CacheCost} CacheCost */

/** @param {import("../report.js").Report} report */
export function caches({ results }) {
  const compared = results.map((result) => result.caches).filter(({ verdicts, costs }) => verdicts.length > 0 || costs.length > 0);
  if (compared.length === 0) return null;
  return section("caches", t("缓存", "Caches"), h("div", { class: "stack" }, cacheTables(compared)));
}

/**
 * Returns the tables and charts of one comparison or several.
 * @param {Caches[]} compared
 */
export function cacheTables(compared) {
  const verdicts = compared.flatMap((one) => one.verdicts);
  const costs = numberedWays(compared.map((one) => one.costs));
  return [
    verdictTable(verdicts, { question: cacheQuestionText, verdict: cacheVerdictText }),
    panels([
      wayChart(t("每秒读取", "Reads per second"), costs, ({ reads_per_s }) => reads_per_s, rate, 0),
      wayChart(t("每1000次读取查库几次", "Reads of the database per 1,000 reads"), costs, ({ loads_per_1000 }) => loads_per_1000, rounded, 1),
    ]),
    costTable(costs),
  ];
}

/** @param {CacheCost[]} costs */
function costTable(costs) {
  return table(t("各种方式的开销", "Costs by way"), [
    { title: t("方式", "Way"), cell: ({ way }) => way, look: "name" },
    numberColumn(t("每秒读取", "Reads"), (cost) => rate(cost.reads_per_s)),
    numberColumn("p50", (cost) => duration(cost.p50_us)),
    numberColumn("p99", (cost) => duration(cost.p99_us)),
    numberColumn(t("每1000次查库", "Loads per 1,000"), ({ loads_per_1000: loads }) => (loads === null ? "–" : rounded(loads))),
  ], costs);
}
