// The chart of a replay: each attempt is a mark at its time and score. Marks differ in shape and colour.

import { fill, h, svg } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { outcomeGroup } from "../attempt-names.js";

/** @typedef {import("../screens/attempts.js").Attempt} Attempt */
/** @typedef {ReturnType<typeof outcomeGroup>} Group */

/** Margins of the drawing, in percent of its size. */
const MARGIN = 4;
/** Part of the scale above the limit, as a share of the limit. */
const ABOVE_LIMIT = 0.25;

/**
 * @returns {{root: HTMLElement, set: (attempts: Attempt[], limit: number | undefined) => void,
 * reveal: (count: number, at: number) => void}} `set`: takes attempts, oldest first; `reveal`: shows the
 * first `count` of them and the present moment
 */
export function replayChart() {
  const drawing = svg("svg", { class: "replay-marks", "aria-hidden": "true" });
  const now = svg("line", { class: "replay-now", y1: "0%", y2: "100%" });
  const root = h("div", { class: "replay-chart", role: "img" }, drawing);
  /** @type {SVGElement[]} */
  let marks = [];
  let shown = 0;
  /** @type {(at: number) => string} */
  let across = () => "0%";

  return { root, set, reveal };

  /**
   * @param {Attempt[]} attempts
   * @param {number | undefined} limit
   */
  function set(attempts, limit) {
    const first = attempts[0]?.at ?? 0;
    const span = (attempts.at(-1)?.at ?? first) - first;
    const top = Math.max((limit ?? 0) * (1 + ABOVE_LIMIT), ...attempts.map(({ score }) => score), 1);
    const up = (/** @type {number} */ score) => percent(1 - Math.max(score, 0) / top);
    across = (at) => percent(span > 0 ? (at - first) / span : 0.5);
    marks = attempts.map(({ at, score, outcome }) => mark(outcomeGroup(outcome), across(at), up(score)));
    shown = marks.length;
    fill(drawing, limit !== undefined && limitLine(up(limit), limit), now, marks);
    root.setAttribute("aria-label", t(`${attempts.length} 次抢购，横向按时间，纵向按分数`, `${attempts.length} attempts, by time from left to right and by score upwards`));
  }

  /**
   * @param {number} count
   * @param {number} at
   */
  function reveal(count, at) {
    // Only the marks between the former and the present count change.
    for (let index = Math.min(shown, count); index < Math.max(shown, count); index += 1) marks[index].toggleAttribute("hidden", index >= count);
    shown = count;
    now.setAttribute("x1", across(at));
    now.setAttribute("x2", across(at));
  }
}

/** Returns the legend of the marks. */
export function replayLegend() {
  /** @type {[Group, string][]} */
  const groups = [["got", t("抢到", "got a unit")], ["stopped", t("被风控拦下", "stopped by the judgement")], ["other", t("其他原因没抢到", "nothing for another reason")]];
  return h("ul", { class: "row wrap small quiet" }, groups.map(([group, text]) =>
    h("li", { class: "row" }, svg("svg", { class: "replay-sample", "aria-hidden": "true" }, mark(group, "50%", "50%")), text)));
}

/** @param {number} share 0 to 1 */
function percent(share) {
  return `${(MARGIN + share * (100 - 2 * MARGIN)).toFixed(2)}%`;
}

/**
 * Returns a disc, a diamond or an empty square.
 * @param {Group} group
 * @param {string} x
 * @param {string} y
 */
function mark(group, x, y) {
  if (group === "got") return svg("circle", { class: "replay-mark got", cx: x, cy: y, r: 5 });
  return svg("rect", { class: `replay-mark ${group}`, x, y, width: 8, height: 8 });
}

/**
 * @param {string} y
 * @param {number} limit
 */
function limitLine(y, limit) {
  return [
    svg("line", { class: "replay-limit", x1: "0%", x2: "100%", y1: y, y2: y }),
    svg("text", { class: "replay-text", x: "0%", y, dy: -4 }, t(`${limit} 分`, `score ${limit}`)),
  ];
}
