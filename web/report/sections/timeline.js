// Accepted and persisted orders over time: for each system and workload the run with the median duration.

import { t } from "../../core/language.js";
import { chartFigure } from "../chart/figure.js";
import { drawLines } from "../chart/line-chart.js";
import { linearDomain } from "../chart/scale.js";
import { count, defined, rounded, span } from "../number.js";
import { numberColumn, table } from "../table.js";
import { workloadText } from "../words.js";
import { panels, section } from "./section.js";

/** @typedef {import("../report.js").SubjectRun} SubjectRun */
/** @typedef {import("../result.js").TimelinePoint} TimelinePoint */

/** Looks of the two lines: unlike in colour, dash and mark. */
const LOOKS = { accepted: 0, persisted: 1 };
/** Marks along a line. */
const MARKS = 8;

/** @param {import("../report.js").Report} report */
export function timeline({ subjects, workloads, completed }) {
  const shown = workloads.flatMap((workload) => subjects.flatMap((subject) => {
    const runs = completed.filter((one) => one.subject === subject && one.run.workload === workload && one.run.timeline.length > 1);
    const sorted = runs.sort((a, b) => endOf(a) - endOf(b));
    return sorted.length === 0 ? [] : [sorted[Math.floor((sorted.length - 1) / 2)]];
  }));
  if (shown.length === 0) return null;
  return section("timeline", t("接受与落盘", "Accepted and persisted over time"), panels(shown.map(timelineChart)));
}

/** @param {SubjectRun} subjectRun */
function endOf({ run }) {
  return run.timeline[run.timeline.length - 1].at_s;
}

/** @param {SubjectRun} subjectRun */
function timelineChart(subjectRun) {
  const { subject, run } = subjectRun;
  const points = run.timeline;
  const round = run.round === null ? "" : t(`，第${run.round}轮`, `, round ${run.round}`);
  const title = `${subject.name}${t("，", ", ")}${workloadText(run.workload)}${round}`;
  const names = { accepted: t("已接受", "accepted"), persisted: t("已落盘", "persisted") };
  const series = (/** @type {"accepted" | "persisted"} */ field) => {
    const line = points.flatMap((point) => (point[field] === null ? [] : [/** @type {[number, number]} */ ([point.at_s, point[field]])]));
    const step = Math.max(1, Math.floor(line.length / MARKS));
    return { name: names[field], look: LOOKS[field], points: line, marked: line.filter((_, index) => index % step === 0 || index === line.length - 1) };
  };
  const band = points.flatMap(({ at_s: at, accepted, persisted }) =>
    (accepted === null || persisted === null ? [] : [/** @type {[number, number, number]} */ ([at, persisted, accepted])]));
  const lines = [{ ...series("accepted"), band }, series("persisted")].filter((one) => one.points.length > 0);
  return chartFigure({
    title,
    summary: sentence(points),
    legend: lines,
    draw: (width) => drawLines({
      x: { title: t("时间（秒）", "Time (s)"), isLog: false, domain: [0, endOf(subjectRun)], format: rounded },
      y: { title: t("订单", "Orders"), isLog: false, domain: linearDomain(lines.flatMap((one) => one.points.map(([, value]) => value))), format: rounded },
      series: lines,
    }, width),
    table: timelineTable(t(`${title}的数据`, `Data: ${title}`), points),
    note: band.length > 0 ? t("色带：已接受、尚未落盘的订单。", "Area: orders accepted and not yet persisted.") : "",
  });
}

/** @param {TimelinePoint[]} points */
function sentence(points) {
  const last = points[points.length - 1];
  const backlogs = points.map((point) => ({ at: point.at_s, size: point.pending ?? (point.accepted === null || point.persisted === null ? null : point.accepted - point.persisted) }));
  const sizes = defined(backlogs.map(({ size }) => size));
  const total = t(
    `${span(last.at_s)}内接受${count(last.accepted)}单，落盘${count(last.persisted)}单`,
    `${count(last.accepted)} orders accepted and ${count(last.persisted)} persisted within ${span(last.at_s)}`);
  if (sizes.length === 0) return t(`${total}。`, `${total}.`);
  const most = backlogs.find(({ size }) => size === Math.max(...sizes));
  return t(
    `${total}；积压最多${count(most?.size)}单，在${span(most?.at)}时。`,
    `${total}; at most ${count(most?.size)} were pending, at ${span(most?.at)}.`);
}

/**
 * @param {string} name
 * @param {TimelinePoint[]} points
 */
function timelineTable(name, points) {
  return table(name, [
    { title: t("时间", "Time"), cell: (/** @type {TimelinePoint} */ point) => span(point.at_s), look: "name" },
    numberColumn(t("已接受", "Accepted"), (/** @type {TimelinePoint} */ point) => count(point.accepted)),
    numberColumn(t("已落盘", "Persisted"), (/** @type {TimelinePoint} */ point) => count(point.persisted)),
    numberColumn(t("积压", "Pending"), (/** @type {TimelinePoint} */ point) => count(point.pending)),
  ], points);
}
