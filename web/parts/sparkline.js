// A small chart of how something went lately: its lines, drawn without numbers on them; those are in its label.

import { fill, h, svg } from "../core/dom.js";
import { both } from "../core/language.js";

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {"accent" | "sale" | "good" | "quiet"} look
 * @property {(number | undefined)[]} values the oldest first; nothing where there was none
 */

const [WIDTH, HEIGHT] = [300, 60];

/**
 * @param {string} title what it is about
 * @param {(value: number) => string} [written] a value in words
 * @returns {{root: HTMLElement, show: (lines: Line[], places: number) => void}} `places`: how many values there is room for
 */
export function sparkline(title, written = (value) => value.toLocaleString()) {
  const drawing = svg("svg", { class: "sparkline-lines", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const top = h("span", { class: "sparkline-top", "aria-hidden": "true" });
  const root = h("div", { class: "sparkline", role: "img", "aria-label": title }, drawing, top);

  /**
   * @param {Line[]} lines
   * @param {number} places
   */
  function show(lines, places) {
    const most = ceiling(Math.max(...lines.flatMap(({ values }) => known(values)), 0));
    fill(drawing, lines.map((line, index) => drawn(line, most, places, index === 0)));
    top.textContent = written(most);
    root.setAttribute("aria-label", [title, ...lines.map(inWords)].join(both("；", "; ")));
  }

  /**
   * @param {Line} line
   * @param {number} most
   * @param {number} places
   * @param {boolean} isGround whether what lies below it is tinted
   */
  function drawn({ values, look }, most, places, isGround) {
    const step = WIDTH / (places - 1);
    const first = places - values.length;
    const points = values.flatMap((value, index) =>
      value === undefined ? [] : [`${((first + index) * step).toFixed(1)} ${(HEIGHT - (value / most) * (HEIGHT - 2) - 1).toFixed(1)}`]);
    if (points.length === 0) return [];
    const path = `M${points.join("L")}`;
    const [from] = points[0].split(" ");
    const [to] = points[points.length - 1].split(" ");
    return [
      isGround && svg("path", { class: `sparkline-ground ${look}`, d: `${path}L${to} ${HEIGHT}L${from} ${HEIGHT}Z` }),
      svg("path", { class: `sparkline-line ${look}`, d: path, "vector-effect": "non-scaling-stroke" }),
    ];
  }

  /** @param {Line} line */
  function inWords({ name, values }) {
    const all = known(values);
    if (all.length === 0) return both(`${name}：还没有`, `${name}: none yet`);
    const [now, least, most] = [all[all.length - 1], Math.min(...all), Math.max(...all)].map(written);
    return both(`${name}：现在${now}，最低${least}，最高${most}`, `${name}: now ${now}, lowest ${least}, highest ${most}`);
  }

  return { root, show };
}

/** @param {(number | undefined)[]} values */
function known(values) {
  return values.filter((value) => value !== undefined);
}

/**
 * The next round number: the chart's height changes seldom.
 * @param {number} value
 */
function ceiling(value) {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10);
}
