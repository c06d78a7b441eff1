// Charts of horizontal bars, each with its name above and its value behind.

import { svg } from "../../core/dom.js";
import { colorClass, mark } from "./look.js";
import { linearDomain, scaleOf } from "./scale.js";
import { lines } from "./axes.js";
import { LINE_PX, textWidth, wrap } from "./text.js";

/**
 * @typedef {object} Bar
 * @property {string} name
 * @property {number} look
 * @property {number} value
 * @property {number | null} low lower end of the interval
 * @property {number | null} high
 */

const BAR_PX = 14;
const ROW_GAP_PX = 12;
/** Space for the mark before the name. */
const MARK_PX = 16;
const WHISKER_PX = 4;

/**
 * @param {Bar[]} bars
 * @param {(value: number) => string} format
 * @param {number} width in px
 */
export function drawBars(bars, format, width) {
  const values = bars.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
  const labelWidth = Math.max(...bars.map(({ value }) => textWidth(format(value)))) + 8;
  const toX = scaleOf({ title: "", isLog: false, domain: linearDomain(values), format }, [0, Math.max(width - labelWidth, 40)]);
  let y = 0;
  const rows = bars.map((bar) => {
    const name = wrap(bar.name, width - MARK_PX);
    const top = y;
    const middle = top + name.length * LINE_PX + 4 + BAR_PX / 2;
    y = middle + BAR_PX / 2 + ROW_GAP_PX;
    return row(bar, name, top, middle, toX, format);
  });
  return svg("svg", { viewBox: `0 0 ${width} ${y}`, width, height: y }, rows);
}

/**
 * @param {Bar} bar
 * @param {string[]} name lines
 * @param {number} top
 * @param {number} middle of the bar
 * @param {(value: number) => number} toX
 * @param {(value: number) => string} format
 */
function row({ look, value, low, high }, name, top, middle, toX, format) {
  const end = toX(value);
  const hasInterval = low !== null && high !== null && high > low;
  return svg("g", { class: colorClass(look) },
    mark(look, 6, top + LINE_PX / 2, ""),
    lines(name, MARK_PX, top + LINE_PX - 4, "start"),
    svg("rect", { class: "chart-bar", x: 0, y: middle - BAR_PX / 2, width: Math.max(end, 1), height: BAR_PX, rx: 3 }),
    hasInterval && ["chart-halo", "chart-whisker"].map((part) => svg("path", { class: part, d: whisker(toX(low), toX(high), middle) })),
    svg("text", { class: "chart-value", x: Math.max(end, hasInterval ? toX(high) : 0) + 6, y: middle, dy: "0.35em" }, format(value)));
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} middle of the bar
 */
function whisker(low, high, middle) {
  const ends = [low, high].map((x) => `M${x} ${middle - WHISKER_PX}v${2 * WHISKER_PX}`);
  return `M${low} ${middle}H${high}${ends.join("")}`;
}
