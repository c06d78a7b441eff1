// Ways to assemble feeds: what readers see, and costs by the number of fans. `mallbox learn` shows them too.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chartFigure } from "../chart/figure.js";
import { drawLines } from "../chart/line-chart.js";
import { logDomain } from "../chart/scale.js";
import { bytes, count, duration, rate, rounded } from "../number.js";
import { latencyAxis } from "../percentiles.js";
import { feedQuestionText, feedVerdictText } from "../reads-words.js";
import { unique } from "../report.js";
import { columnIfAny, numberColumn, table } from "../table.js";
import { verdictTable } from "../verdict-table.js";
import { numberedWays } from "../way-chart.js";
import { panels, section } from "./section.js";

/** @typedef {import("../result.js").Feeds} Feeds */
/** @typedef {import("../result.js").FeedCost} FeedCost */

/** @param {import("../report.js").Report} report */
export function feeds({ results }) {
  const compared = results.map((result) => result.feeds).filter(({ verdicts, costs }) => verdicts.length > 0 || costs.length > 0);
  if (compared.length === 0) return null;
  return section("feeds", t("Feed流", "Feeds"), h("div", { class: "stack" }, feedTables(compared)));
}

/**
 * Returns the tables and charts of one comparison or several.
 * @param {Feeds[]} compared
 */
export function feedTables(compared) {
  const verdicts = compared.flatMap((one) => one.verdicts);
  const costs = numberedWays(compared.map((one) => one.costs));
  return [
    panels([
      costChart(t("发一条笔记的耗时", "Time of a note"), costs, ({ write_us }) => write_us),
      costChart(t("读一页的耗时", "Time of a page"), costs, ({ page_p50_us }) => page_p50_us),
    ]),
    costTable(costs),
    verdictTable(verdicts, { question: feedQuestionText, verdict: feedVerdictText }),
  ];
}

/**
 * @param {string} title
 * @param {FeedCost[]} costs
 * @param {(cost: FeedCost) => number | null} figure
 */
function costChart(title, costs, figure) {
  const series = unique(costs.map(({ way }) => way)).flatMap((way, look) => {
    const points = costs.filter((cost) => cost.way === way).flatMap((cost) => {
      const [fans, us] = [cost.fans, figure(cost)];
      return fans === null || us === null ? [] : [/** @type {[number, number]} */ ([fans, us])];
    });
    return points.length < 2 ? [] : [{ name: way, look, points }];
  });
  if (series.length === 0) return null;
  const fans = unique(series.flatMap(({ points }) => points.map(([x]) => x)));
  const sentences = series.map(({ name, points }) => {
    const [first, last] = [points[0], points[points.length - 1]];
    return t(
      `${name}：粉丝从${count(first[0])}到${count(last[0])}，由${duration(first[1])}变为${duration(last[1])}。`,
      `${name}: ${duration(first[1])} with ${count(first[0])} fans, ${duration(last[1])} with ${count(last[0])}.`);
  });
  return chartFigure({
    title,
    summary: sentences.join(t("", " ")),
    legend: series,
    draw: (width) => drawLines({
      x: { title: t("粉丝数（对数刻度）", "Fans (logarithmic)"), isLog: true, domain: logDomain(fans), format: rounded },
      y: latencyAxis(series.flatMap(({ points }) => points.map(([, us]) => us))),
      series,
    }, width),
    table: table(t(`${title}的数据`, `Data: ${title}`), [
      { title: t("方式", "Way"), cell: (/** @type {FeedCost} */ { way }) => way, look: "name" },
      numberColumn(t("粉丝", "Fans"), (/** @type {FeedCost} */ cost) => count(cost.fans)),
      numberColumn(title, (/** @type {FeedCost} */ cost) => duration(figure(cost))),
    ], costs),
  });
}

/** @param {FeedCost[]} costs */
function costTable(costs) {
  return table(t("各种方式的开销", "Costs by way"), [
    { title: t("方式", "Way"), cell: ({ way }) => way, look: "name" },
    numberColumn(t("粉丝", "Fans"), (cost) => count(cost.fans)),
    numberColumn(t("发一条笔记", "A note"), (cost) => duration(cost.write_us)),
    numberColumn(t("每秒页数", "Pages"), (cost) => rate(cost.pages_per_s)),
    numberColumn(t("一页，p50", "Page, p50"), (cost) => duration(cost.page_p50_us)),
    numberColumn(t("一页，p99", "Page, p99"), (cost) => duration(cost.page_p99_us)),
    ...columnIfAny(costs, (cost) => cost.redis_bytes_per_note, numberColumn(t("每条笔记占Redis", "Redis per note"), (cost) => bytes(cost.redis_bytes_per_note))),
  ], costs);
}
