// The axes of a chart: grid, tick labels and titles, and the positions of values between them.

import { svg } from "../../core/dom.js";
import { leadingDigit, scaleOf, ticksOf } from "./scale.js";
import { LINE_PX, textWidth, wrap } from "./text.js";

/** @typedef {import("./scale.js").Axis} Axis */

/** Space between the axis and a label. */
const GAP_PX = 6;
/** Space between two labels of the horizontal axis. */
const LABEL_GAP_PX = 6;
const PX_PER_TICK = { x: 80, y: 56 };

/**
 * @param {Axis} x
 * @param {Axis} y
 * @param {number} width of the drawing
 * @param {number} height of the drawing
 */
export function axes(x, y, width, height) {
  const yTicks = ticksOf(y, height / PX_PER_TICK.y);
  const xTicks = ticksOf(x, width / PX_PER_TICK.x);
  const yTitle = wrap(y.title, width);
  const xTitle = wrap(x.title, width);
  const left = Math.max(...yTicks.map((tick) => textWidth(y.format(tick))), 0) + GAP_PX;
  const right = width - Math.max(12, textWidth(x.format(xTicks.at(-1) ?? 0)) / 2);
  const [top, bottom] = [yTitle.length * LINE_PX + 8, height - (1 + xTitle.length) * LINE_PX - GAP_PX];
  const toX = scaleOf(x, [left, right]);
  const toY = scaleOf(y, [bottom, top]);
  const nodes = svg("g", { class: "chart-axes" },
    lines(yTitle, 0, LINE_PX - 4, "start"),
    yTicks.map((tick) => [
      svg("line", { class: "chart-grid", x1: left, x2: right, y1: toY(tick), y2: toY(tick) }),
      svg("text", { x: left - GAP_PX, y: toY(tick), dy: "0.35em", "text-anchor": "end" }, y.format(tick)),
    ]).flat(),
    svg("line", { class: "chart-base", x1: left, x2: right, y1: bottom, y2: bottom }),
    xTicks.map((tick) => svg("line", { class: "chart-grid", x1: toX(tick), x2: toX(tick), y1: top, y2: bottom + 4 })),
    fittingLabels(x, xTicks, toX, width).map(({ text, at }) => svg("text", { x: at, y: bottom + LINE_PX + 2, "text-anchor": "middle" }, text)),
    lines(xTitle, right, bottom + 2 * LINE_PX + 4, "end"));
  return { nodes, toX, toY };
}

/**
 * Returns the labels that fit beside each other, from the left; on a logarithmic axis powers of ten first.
 * @param {Axis} axis
 * @param {number[]} ticks
 * @param {(value: number) => number} position
 * @param {number} width of the drawing
 */
function fittingLabels(axis, ticks, position, width) {
  /** @type {{text: string, at: number, half: number}[]} */
  const labels = [];
  const isFirst = (/** @type {number} */ tick) => !axis.isLog || axis.ticks !== undefined || leadingDigit(tick) === 1;
  for (const tick of [...ticks.filter(isFirst), ...ticks.filter((one) => !isFirst(one))]) {
    const text = axis.format(tick);
    const half = textWidth(text) / 2;
    const at = Math.min(Math.max(position(tick), half), width - half);
    if (labels.every((label) => Math.abs(label.at - at) >= label.half + half + LABEL_GAP_PX)) labels.push({ text, at, half });
  }
  return labels;
}

/**
 * @param {string[]} texts
 * @param {number} x
 * @param {number} y of the first line
 * @param {"start" | "end"} anchor
 */
export function lines(texts, x, y, anchor) {
  return texts.map((text, index) => svg("text", { class: "chart-title", x, y: y + index * LINE_PX, "text-anchor": anchor }, text));
}
