// A ring that empties during a wait of some seconds.

import { svg } from "../core/dom.js";

const RADIUS = 9;

/** @param {number} ms */
export function countdownRing(ms) {
  const circle = svg("circle", { cx: 12, cy: 12, r: RADIUS, pathLength: 1 });
  circle.style.animationDuration = `${ms}ms`;
  return svg("svg", { class: "ring", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("circle", { class: "ring-ground", cx: 12, cy: 12, r: RADIUS }), circle);
}
