// A small line chart of recent values. The label describes the lines for screen readers.

import { fill, h, svg } from "../core/dom.js";
import { t } from "../core/language.js";

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {"accent" | "sale" | "good" | "quiet"} look
 * @property {(number | undefined)[]} values oldest first; `undefined` for missing values
 */

const [WIDTH, HEIGHT] = [300, 60];

/**
 * @param {string} title name of the chart
 * @param {(value: number) => string} [format] formats a value
 * @returns {{root: HTMLElement, show: (lines: Line[], capacity: number) => void}} `capacity`: number of
 * values across the width
 */
export function sparkline(title, format = (value) => value.toLocaleString()) {
  const chart = svg("svg", { class: "sparkline-lines", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const maxLabel = h("span", { class: "sparkline-top", "aria-hidden": "true" });
  const root = h("div", { class: "sparkline", role: "img", "aria-label": title }, chart, maxLabel);

  /**
   * @param {Line[]} lines
   * @param {number} capacity
   */
  function show(lines, capacity) {
    const max = roundUp(Math.max(...lines.flatMap(({ values }) => definedValues(values)), 0));
    fill(chart, lines.map((line, index) => linePaths(line, max, capacity, index === 0)));
    maxLabel.textContent = format(max);
    root.setAttribute("aria-label", [title, ...lines.map(describe)].join(t("；", "; ")));
  }

  /**
   * @param {Line} line
   * @param {number} max
   * @param {number} capacity
   * @param {boolean} isFilled whether the area below the line is tinted
   */
  function linePaths({ values, look }, max, capacity, isFilled) {
    const step = WIDTH / (capacity - 1);
    const first = capacity - values.length;
    const points = values.flatMap((value, index) =>
      value === undefined ? [] : [`${((first + index) * step).toFixed(1)} ${(HEIGHT - (value / max) * (HEIGHT - 2) - 1).toFixed(1)}`]);
    if (points.length === 0) return [];
    const path = `M${points.join("L")}`;
    const [from] = points[0].split(" ");
    const [to] = points[points.length - 1].split(" ");
    return [
      isFilled && svg("path", { class: `sparkline-ground ${look}`, d: `${path}L${to} ${HEIGHT}L${from} ${HEIGHT}Z` }),
      svg("path", { class: `sparkline-line ${look}`, d: path, "vector-effect": "non-scaling-stroke" }),
    ];
  }

  /** @param {Line} line */
  function describe({ name, values }) {
    const defined = definedValues(values);
    if (defined.length === 0) return t(`${name}：还没有`, `${name}: no data yet`);
    const [current, min, max] = [defined[defined.length - 1], Math.min(...defined), Math.max(...defined)].map(format);
    return t(`${name}：现在${current}，最低${min}，最高${max}`, `${name}: now ${current}, lowest ${min}, highest ${max}`);
  }

  return { root, show };
}

/** @param {(number | undefined)[]} values */
function definedValues(values) {
  return values.filter((value) => value !== undefined);
}

/**
 * Rounds up to 1, 2 or 5 times a power of ten, so that the scale changes seldom.
 * @param {number} value
 */
export function roundUp(value) {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10);
}
