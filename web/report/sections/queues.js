// Ways to hand orders over: the verdicts of experiments, a row for each way, and throughput by setting.
// `mallbox learn` shows them too.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { bytes, duration, rate } from "../number.js";
import { unique } from "../report.js";
import { columnIfAny, numberColumn, table } from "../table.js";
import { verdictTable } from "../verdict-table.js";
import { queueVerdictText, questionText } from "../words.js";
import { numberedWays, wayChart } from "../way-chart.js";
import { panels, section } from "./section.js";

/** @typedef {import("../result.js").Queues} Queues */
/** @typedef {import("../result.js").QueueVerdict} QueueVerdict */
/** @typedef {import("../result.js").QueueSpeed} QueueSpeed */

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
  const usual = numberedWays(compared.map(({ speeds }) => usualSpeeds(speeds)));
  return [
    queueVerdicts(compared.flatMap(({ verdicts }) => verdicts)),
    panels([
      wayChart(t("每秒处理完的消息", "Messages done per second"), usual, ({ received_per_s }) => received_per_s, rate, 0),
      wayChart(t("从发送到收到，p99", "From send to receipt, p99"), usual, ({ p99_us }) => p99_us, duration, 1),
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

/** @param {QueueVerdict[]} verdicts */
function queueVerdicts(verdicts) {
  const bytesOf = (/** @type {string} */ way) => verdicts.find((verdict) => verdict.way === way && verdict.question === "backlog")?.bytes_per_message ?? null;
  return verdictTable(verdicts, { question: questionText, verdict: queueVerdictText }, (ways) =>
    columnIfAny(ways, bytesOf, numberColumn(t("每条消息", "A message"), (way) => bytes(bytesOf(way)))));
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
