// What was compared: the results, and the systems with their classes and versions.

import { h } from "../../core/dom.js";
import { language, t } from "../../core/language.js";
import { chip } from "../../parts/chip.js";
import { lookSample } from "../chart/look.js";
import { span } from "../number.js";
import { KNOWN_SCHEMA } from "../result.js";
import { classText, kindText, workloadText } from "../words.js";
import { definitions, section } from "./section.js";

/** @typedef {import("../report.js").Report} Report */
/** @typedef {import("../report.js").Subject} Subject */
/** @typedef {import("../result.js").Result} Result */

const COMMIT_LETTERS = 10;
/** Of more systems than this, the versions are behind a disclosure. */
const MAX_OPEN_VERSIONS = 2;

/** @param {Report} report */
export function compared(report) {
  const isLong = report.subjects.length > MAX_OPEN_VERSIONS;
  if (report.results.length === 0) return section("compared", t("没有结果", "No results"), h("p", null, t("这个文件里没有测试结果。", "This file holds no results.")));
  return section("compared", t("测了什么", "What was compared"),
    report.results.map((result, index) => resultCard(result, report.results.length > 1 ? index + 1 : null)),
    report.subjects.length > 0 && h("ul", { class: "systems" }, report.subjects.map((subject) => systemItem(subject, isLong ? [] : versions(subject)))),
    isLong && h("details", { class: "printed" }, h("summary", null, t("版本和设置", "Versions and settings")),
      h("div", { class: "card pad" }, definitions(report.subjects.map((subject) => [subject.name, versions(subject)])))),
    report.workloads.length > 0 && h("p", { class: "quiet small" },
      t(`负载：${report.workloads.map(workloadText).join("、")}`, `Workloads: ${report.workloads.map(workloadText).join(", ")}`)));
}

/**
 * @param {Result} result
 * @param {number | null} number of the result, if there are several
 */
function resultCard(result, number) {
  const { mallbox, machine } = result;
  const commit = mallbox.commit?.slice(0, COMMIT_LETTERS);
  const version = [mallbox.version, commit && t(`提交${commit}`, `commit ${commit}`)].filter(Boolean).join(t("，", ", "));
  /** @type {[string, string][]} */
  const facts = [
    [t("测试", "Benchmark"), kindText(result.kind)],
    [t("开始", "Began"), result.began === null ? "" : instant(result.began)],
    [t("历时", "Lasted"), result.lasted_s === null ? "" : span(result.lasted_s)],
    ["mallbox", version],
    [t("机器", "Machine"), [machine.cpu, machine.cores !== null && t(`${machine.cores}核`, `${machine.cores} cores`)].filter(Boolean).join(t("，", ", "))],
  ];
  return h("div", { class: "card pad stack" },
    number && h("h3", null, t(`结果（${number}）`, `Result (${number})`)),
    definitions(facts.filter(([, value]) => value !== "")),
    result.schema > KNOWN_SCHEMA && h("p", { class: "notice bad" }, t(
      `文件的格式版本是${result.schema}，本页只认识版本${KNOWN_SCHEMA}：有的内容可能没有显示，或显示有误。`,
      `The file has schema ${result.schema}, this page knows schema ${KNOWN_SCHEMA}: parts may be missing or wrong.`)));
}

/**
 * @param {Subject} subject
 * @param {HTMLElement[]} details
 */
function systemItem({ name, look, system }, details) {
  return h("li", { class: "card pad" },
    h("p", { class: "system-name" }, lookSample(look), h("strong", null, name), system.tuned && chip(t("已调优", "tuned"), "accent")),
    name !== system.name && system.id !== system.name && h("p", null, system.name),
    h("p", { class: "small" }, classText(system.class)),
    details);
}

/** @param {Subject} subject */
function versions({ system }) {
  return system.versions.map(({ name: product, version, settings }) => h("p", { class: "small quiet" },
    [product, version].filter(Boolean).join(" "), settings && [t("：", ": "), h("code", { lang: "en" }, settings)]));
}

/** @param {string} iso */
function instant(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const format = new Intl.DateTimeFormat(language() === "zh" ? "zh-CN" : "en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  return `${format.format(date)} UTC`;
}
