// Charts of lines.

import { svg } from "../../core/dom.js";
import { area, line } from "../vendor/d3.js";
import { axes } from "./axes.js";
import { colorClass, dash, mark } from "./look.js";

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {number} look
 * @property {[number, number][]} points
 * @property {[number, number][]} [marked] points with a mark; default: all
 * @property {[number, number][]} [ringed] points with a ring around the mark
 * @property {[number, number, number][]} [band] x, low and high of an area behind the line
 */
/**
 * @typedef {object} LineChart
 * @property {import("./scale.js").Axis} x
 * @property {import("./scale.js").Axis} y
 * @property {Series[]} series
 * @property {[number, number][]} [reference] a thin line to compare with
 */

const HEIGHT_SHARE = 0.62;
const [MIN_HEIGHT_PX, MAX_HEIGHT_PX] = [220, 340];
const RING_PX = 8;

/**
 * @param {LineChart} chart
 * @param {number} width in px
 */
export function drawLines({ x, y, series, reference }, width) {
  const height = Math.min(MAX_HEIGHT_PX, Math.max(MIN_HEIGHT_PX, Math.round(width * HEIGHT_SHARE)));
  const { nodes, toX, toY } = axes(x, y, width, height);
  const isDrawable = (/** @type {number[]} */ [atX, ...atY]) => (!x.isLog || atX > 0) && (!y.isLog || atY.every((value) => value > 0));
  const path = /** @type {any} */ (line)((/** @type {number[]} */ point) => toX(point[0]), (/** @type {number[]} */ point) => toY(point[1]));
  const ground = /** @type {any} */ (area)((/** @type {number[]} */ point) => toX(point[0]), (/** @type {number[]} */ point) => toY(point[1]), (/** @type {number[]} */ point) => toY(point[2]));
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height }, nodes,
    reference && svg("path", { class: "chart-reference", d: path(reference.filter(isDrawable)) }),
    series.map(({ look, band }) => band && svg("path", { class: `chart-band ${colorClass(look)}`, d: ground(band.filter(isDrawable)) })),
    series.map(({ name, look, points, marked = points, ringed = [] }) => svg("g", { class: colorClass(look) },
      svg("path", { class: "chart-line", d: path(points.filter(isDrawable)), "stroke-dasharray": dash(look) }),
      ringed.filter(isDrawable).map(([atX, atY]) => svg("circle", { class: "chart-ring", cx: toX(atX), cy: toY(atY), r: RING_PX })),
      marked.filter(isDrawable).map(([atX, atY]) => mark(look, toX(atX), toY(atY), `${name}: ${x.format(atX)}, ${y.format(atY)}`)))));
}
