// Looks of series: colour, dash and mark. No two of the first twelve share more than one of the three.

import { svg } from "../../core/dom.js";
import { symbol, symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolStar, symbolTriangle, symbolWye } from "../vendor/d3.js";

const COLORS = 6;
const DASHES = ["", "7 4", "2 3", "10 3 2 3", "4 2"];
const SHAPES = [symbolCircle, symbolSquare, symbolTriangle, symbolDiamond, symbolCross, symbolStar, symbolWye];
const MARK_AREA = 44;
const SAMPLE = { width: 30, height: 14 };

/** @param {number} look */
export function colorClass(look) {
  return `look look-${look % COLORS}`;
}

/** @param {number} look */
export function dash(look) {
  return DASHES[look % DASHES.length];
}

/**
 * Returns the mark of a data point. The marks of the first seven looks are filled, those of the next seven
 * hollow.
 * @param {number} look
 * @param {number} x
 * @param {number} y
 * @param {string} title shown under the pointer
 */
export function mark(look, x, y, title) {
  const isHollow = Math.floor(look / SHAPES.length) % 2 === 1;
  const path = /** @type {any} */ (symbol)(SHAPES[look % SHAPES.length], MARK_AREA)();
  return svg("path", { class: isHollow ? "chart-mark hollow" : "chart-mark", d: path, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
    title && svg("title", null, title));
}

/**
 * Returns a sample of a look, for legends and names.
 * @param {number} look
 */
export function lookSample(look) {
  const middle = SAMPLE.height / 2;
  return svg("svg", { class: `look-sample ${colorClass(look)}`, ...SAMPLE, "aria-hidden": "true" },
    svg("line", { class: "chart-line", x1: 0, x2: SAMPLE.width, y1: middle, y2: middle, "stroke-dasharray": dash(look) }),
    mark(look, SAMPLE.width / 2, middle, ""));
}
