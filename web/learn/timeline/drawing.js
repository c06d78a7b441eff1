// The drawing of a timeline.

import { svg } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { duration } from "../../report/number.js";
import { clock } from "./clock.js";
import { activityOf, returnYOf, rowOf, yOf } from "./model.js";
import { eventMarks } from "./event-marks.js";
import { xOf, xOfActivity } from "./lanes.js";
import { label, symbol } from "./marks.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Row} Row */
/** @typedef {import("./model.js").Standstill} Standstill */
/** @typedef {import("./lanes.js").Lanes} Lanes */
/**
 * @typedef {object} Drawing
 * @property {SVGSVGElement} root
 * @property {(index: number) => void} select shows an event as the current one
 * @property {(index: number) => Element} rowAt the element to scroll to
 */

const BAR_PX = { wide: 8, narrow: 6 };
const STANDSTILL_PX = { wide: 30, narrow: 18 };
const ZIGZAG_PX = 7;

/**
 * @param {Model} model
 * @param {Lanes} lanes
 * @param {(index: number) => void} onChoose called with an event that was clicked
 * @returns {Drawing}
 */
export function drawTimeline(model, lanes, onChoose) {
  const { rows, height, story, mistake } = model;
  const { width } = lanes;
  const band = svg("rect", { class: "tl-current", x: 1, width: width - 2, rx: 6 });
  const numbers = story.map((_, index) => label(`T${index + 1}`, 6, yOf(rows, index) + 4, "tl-number"));
  const targets = story.map((_, index) => {
    const row = rowOf(rows, index);
    return svg("rect", { class: "tl-target", x: 0, y: row.y, width, height: row.height, onclick: () => onChoose(index) });
  });
  const root = svg("svg", { class: "tl-drawing", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    svg("defs", null, hatch("held"), hatch("stopped")),
    band,
    mistake !== null && mistakeBand(rowOf(rows, mistake), lanes),
    lanes.all.map(({ x }) => svg("line", { class: "tl-lane", x1: x, x2: x, y1: 0, y2: height })),
    model.standstills.filter(({ kind }) => kind !== "held").map((one) => standstill(one, model, lanes)),
    model.activities.map((activity) => svg("rect", {
      class: `tl-activity look look-${activity.look % 6}`, rx: 2,
      x: xOfActivity(lanes, model, activity) - barPx(lanes) / 2, width: barPx(lanes), y: activity.from, height: Math.max(activity.to - activity.from, 4),
    })),
    model.standstills.filter(({ kind }) => kind === "held").map((one) => standstill(one, model, lanes)),
    rows.filter(({ kind }) => kind === "gap").map((row) => gap(row, lanes)),
    story.map((_, index) => eventMarks(model, lanes, index, activityOf(model, index))).flat(),
    numbers,
    rows.map((row) => time(row, lanes)),
    targets);
  return {
    root,
    select: (index) => {
      const row = rowOf(rows, index);
      const bottom = story[index].kind.what === "called" ? Math.max(row.y + row.height, returnYOf(rows, index) + 6) : row.y + row.height;
      root.classList.toggle("at-mistake", index === mistake);
      band.setAttribute("y", String(row.y + 1));
      band.setAttribute("height", String(bottom - row.y - 2));
      for (const [place, number] of numbers.entries()) number && number.classList.toggle("now", place === index);
    },
    rowAt: (index) => targets[index],
  };
}

/** @param {Lanes} lanes */
function barPx({ isNarrow }) {
  return isNarrow ? BAR_PX.narrow : BAR_PX.wide;
}

/**
 * @param {Row} row
 * @param {Lanes} lanes
 */
function mistakeBand(row, { width, gutter, isNarrow }) {
  return svg("g", null,
    svg("rect", { class: "tl-mistake", x: 1, width: width - 2, y: row.y + 1, height: row.height - 2, rx: 6 }),
    symbol("warn", isNarrow ? 13 : 15, row.y + 37, "tl-warn"),
    label(isNarrow ? t("出错", "fails") : t("这里出错", "goes wrong"), isNarrow ? 26 : 29, row.y + 41, "tl-warn-text"),
    svg("line", { class: "tl-mistake-edge", x1: gutter, x2: gutter, y1: row.y + 1, y2: row.y + row.height - 1 }));
}

/**
 * Returns the time beside the number of an event.
 * @param {Row} row
 * @param {Lanes} lanes
 */
function time({ kind, us, y }, { isNarrow, gutter }) {
  if (isNarrow || kind !== "event") return null;
  return label(clock(us), gutter - 8, y + 23, "tl-time", "end");
}

/**
 * @param {Row} row
 * @param {Lanes} lanes
 */
function gap({ y, height, us }, { all, width, gutter, isNarrow }) {
  const middle = y + height / 2;
  const zigzag = (/** @type {number} */ offset) => {
    const teeth = Math.floor((width - gutter) / (2 * ZIGZAG_PX));
    return `M${gutter} ${middle + offset}${`l${ZIGZAG_PX} -4l${ZIGZAG_PX} 4`.repeat(teeth)}`;
  };
  const text = t(`过了${duration(us)}`, `${duration(us)} pass`);
  return svg("g", { class: "tl-gap" },
    all.map(({ x }) => svg("rect", { class: "tl-cut", x: x - 3, y: middle - 5, width: 6, height: 10 })),
    svg("path", { class: "tl-zigzag", d: zigzag(-4) }), svg("path", { class: "tl-zigzag", d: zigzag(6) }),
    isNarrow
      ? label(duration(us), 4, middle + 4, "tl-gap-text")
      : label(text, gutter - 8, middle + 4, "tl-gap-text", "end"));
}

/**
 * @param {Standstill} one
 * @param {Model} model
 * @param {Lanes} lanes
 */
function standstill({ kind, instance, activity, from, to }, model, lanes) {
  const lane = xOf(lanes, "instance", instance);
  if (kind === "dead") {
    return svg("g", null,
      svg("line", { class: "tl-lane-gone", x1: lane, x2: lane, y1: from, y2: to }),
      svg("line", { class: "tl-lane-dead", x1: lane, x2: lane, y1: from, y2: to }));
  }
  const wide = kind === "held" ? barPx(lanes) + 4 : lanes.isNarrow ? STANDSTILL_PX.narrow : STANDSTILL_PX.wide;
  const x = activity ? xOfActivity(lanes, model, activity) : lane;
  return svg("rect", { class: `tl-standstill ${kind}`, x: x - wide / 2, width: wide, y: from, height: Math.max(to - from, 6), rx: 3, fill: `url(#tl-${kind})` });
}

/** @param {"held" | "stopped"} kind */
function hatch(kind) {
  return svg("pattern", { id: `tl-${kind}`, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${kind === "held" ? 45 : -45})` },
    svg("rect", { class: "tl-hatch-ground", width: 6, height: 6 }), svg("rect", { class: `tl-hatch-line ${kind}`, width: 2.5, height: 6 }));
}
