// How the results came about: machine, command, settings, and the disk's syncs during the runs.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chartFigure } from "../chart/figure.js";
import { drawLines } from "../chart/line-chart.js";
import { bytes, count, duration, percentile } from "../number.js";
import { SHARES, latencyAxis, nines, percentileAxis, percentileOf, sharesOf } from "../percentiles.js";
import { machineText } from "../words.js";
import { percentileTable } from "./latency.js";
import { definitions, panels, section } from "./section.js";

/** @typedef {import("../result.js").Result} Result */
/** @typedef {import("../result.js").Latency} Latency */

/** The look of the one line: the first. */
const LOOK = 0;

/** @param {import("../report.js").Report} report */
export function setup({ results }) {
  const blocks = results.map((result, index) => setupBlock(result, results.length > 1 ? t(`结果（${index + 1}）`, `Result (${index + 1})`) : ""));
  return blocks.every((block) => block === null) ? null : section("setup", t("机器、命令和设置", "Machine, command and settings"), blocks);
}

/**
 * @param {Result} result
 * @param {string} name of the result, if there are several
 */
function setupBlock(result, name) {
  const machine = Object.entries(result.machine).flatMap(([field, value]) =>
    (value === null ? [] : [/** @type {[string, string]} */ ([machineText(field), field === "memory_bytes" ? bytes(Number(value)) : typeof value === "number" ? count(value) : value])]));
  const settings = Object.entries(result.settings).map(([flag, value]) => /** @type {[string, string]} */ ([flag, settingText(value)]));
  if (machine.length + settings.length + result.command.length === 0 && result.disk_sync === null) return null;
  return h("div", { class: "stack" },
    name && h("h3", null, name),
    machine.length > 0 && h("div", { class: "card pad" }, definitions(machine)),
    result.command.length > 0 && h("div", { class: "stack tight" }, h("h3", null, t("命令", "Command")), h("pre", { tabindex: 0, lang: "en" }, h("code", null, result.command.map(shellWord).join(" ")))),
    settings.length > 0 && h("div", { class: "stack tight" }, h("h3", null, t("设置", "Settings")), h("div", { class: "card pad", lang: "en" }, definitions(settings, "settings"))),
    result.disk_sync && result.disk_sync.percentiles.length > 0 && panels([diskSync(result.disk_sync, name)]));
}

/**
 * @param {Latency} latency
 * @param {string} name of the result, if there are several
 */
function diskSync(latency, name) {
  const shares = sharesOf([latency]);
  const points = shares.flatMap((share) => {
    const value = percentileOf(latency, share);
    return value === null ? [] : [/** @type {[number, number]} */ ([nines(share), value])];
  });
  const line = t("磁盘同步", "disk sync");
  const title = [t("测试期间的磁盘同步", "Disk sync during the runs"), name].filter(Boolean).join(t("：", ": "));
  const [half, most] = [percentileOf(latency, 0.5), percentileOf(latency, 0.99)];
  return chartFigure({
    title,
    summary: t(
      `4 KiB写入后的同步，${count(latency.count)}次：一半在${duration(half)}以内，${percentile(0.99)}在${duration(most)}以内。`,
      `${count(latency.count)} syncs of a 4 KiB write: half within ${duration(half)}, ${percentile(0.99)} within ${duration(most)}.`),
    draw: (width) => drawLines({
      x: percentileAxis(shares), y: latencyAxis(points.map(([, value]) => value)),
      series: [{ name: line, look: LOOK, points, marked: points.filter((_, index) => SHARES.includes(shares[index])) }],
    }, width),
    table: percentileTable(t(`${title}的数据`, `Data: ${title}`), [{ name: line, latencies: [latency] }]),
  });
}

/** @param {unknown} value */
function settingText(value) {
  if (typeof value === "number") return count(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** @param {string} word */
function shellWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
