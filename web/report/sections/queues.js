// Ways to hand orders over: the verdicts of experiments, a row for each way, and throughput by setting.
// `mallbox learn` shows them too.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { drawBars } from "../chart/bar-chart.js";
import { chartFigure } from "../chart/figure.js";
import { bytes, duration, rate } from "../number.js";
import { unique } from "../report.js";
import { columnIfAny, numberColumn, table } from "../table.js";
import { queueVerdictText, questionText } from "../words.js";
import { panels, section } from "./section.js";

/** @typedef {import("../result.js").Queues} Queues */
/** @typedef {import("../result.js").QueueVerdict} QueueVerdict */
/** @typedef {import("../result.js").QueueSpeed} QueueSpeed */
/** @typedef {import("../table.js").Column<string>} TextColumn */

/** @param {import("../report.js").Report} report */
export function queues({ results }) {
  const compared = results.map((result) => result.queues).filter(({ verdicts, speeds }) => verdicts.length > 0 || speeds.length > 0);
  if (compared.length === 0) return null;
  return section("queues", t("消息队列", "Queues"), h("div", { class: "stack" }, queueTables(compared)));
}

/**
 * Returns the tables and charts of one comparison or several.
 * @param {Queues[]} compared
 */
export function queueTables(compared) {
  const usual = compared.flatMap(({ speeds }, index) => usualSpeeds(speeds).map((speed) => (
    { ...speed, way: compared.length > 1 ? `${speed.way} (${index + 1})` : speed.way })));
  return [
    verdictTable(compared.flatMap(({ verdicts }) => verdicts)),
    panels([
      speedChart(t("每秒处理完的消息", "Messages done per second"), "received_per_s", rate, 0, usual),
      speedChart(t("从发送到收到，p99", "From send to receipt, p99"), "p99_us", duration, 1, usual),
    ]),
    speedTable(compared.flatMap(({ speeds }) => speeds)),
  ];
}

/**
 * Returns the speed of each way on the setting that the experiments use.
 * @param {QueueSpeed[]} speeds
 */
function usualSpeeds(speeds) {
  return unique(speeds.map(({ way }) => way)).flatMap((way) => {
    const ofWay = speeds.filter((speed) => speed.way === way);
    return ofWay.find(({ setting }) => setting.includes("everysec")) ?? ofWay.slice(0, 1);
  });
}

/**
 * @param {string} title
 * @param {"received_per_s" | "p99_us"} figure
 * @param {(value: number) => string} format
 * @param {number} look
 * @param {QueueSpeed[]} speeds one of each way
 */
function speedChart(title, figure, format, look, speeds) {
  const bars = speeds.flatMap(({ way, [figure]: value }) => (value === null ? [] : [{ name: way, look, value, low: null, high: null }]));
  if (bars.length === 0) return null;
  const parts = bars.map(({ name, value }) => `${name} ${format(value)}`);
  return chartFigure({
    title,
    summary: t(`${parts.join("；")}。`, `${parts.join("; ")}.`),
    draw: (width) => drawBars(bars, format, width),
    table: table(t(`${title}的数据`, `Data: ${title}`), [
      { title: t("方式", "Way"), cell: (/** @type {typeof bars[number]} */ { name }) => name, look: "name" },
      numberColumn(title, (/** @type {typeof bars[number]} */ { value }) => format(value)),
    ], bars),
  });
}

/** @param {QueueVerdict[]} verdicts */
function verdictTable(verdicts) {
  const of = (/** @type {string} */ way, /** @type {string} */ question) => verdicts.filter((verdict) => verdict.way === way && verdict.question === question);
  const ways = unique(verdicts.map(({ way }) => way));
  const bytesOf = (/** @type {string} */ way) => of(way, "backlog")[0]?.bytes_per_message ?? null;
  return table(t("各种方式的结论", "Verdicts by way"), [
    { title: t("方式", "Way"), cell: (way) => way, look: "name" },
    ...unique(verdicts.map(({ question }) => question)).map((question) => (/** @type {TextColumn} */ ({
      title: questionText(question), cell: (way) => of(way, question).map(words).join(t("；", "; ")), look: "text",
    }))),
    ...columnIfAny(ways, bytesOf, numberColumn(t("每条消息", "A message"), (way) => bytes(bytesOf(way)))),
  ], ways);
}

/** @param {QueueVerdict} verdict */
function words({ verdicts, is_expected }) {
  const runs = verdicts.reduce((sum, [, count]) => sum + count, 0);
  const texts = verdicts.map(([verdict, count]) => queueVerdictText(verdict) + (count === runs ? "" : t(`（${runs}次中${count}次）`, ` (${count} of ${runs})`)));
  return texts.join(t("，", ", ")) + (is_expected ? "" : t("（与预期不同）", " (not expected)"));
}

/** @param {QueueSpeed[]} speeds */
function speedTable(speeds) {
  return table(t("各种方式的吞吐", "Throughput by way"), [
    { title: t("方式", "Way"), cell: ({ way }) => way, look: "name" },
    { title: t("设置", "Setting"), cell: ({ setting }) => setting, look: "text" },
    numberColumn(t("发送", "Sent"), ({ sent_per_s }) => rate(sent_per_s)),
    numberColumn(t("接收", "Received"), ({ received_per_s }) => rate(received_per_s)),
    numberColumn("p50", ({ p50_us }) => duration(p50_us)),
    numberColumn("p99", ({ p99_us }) => duration(p99_us)),
  ], speeds);
}
