// The frame of a chart: title, a sentence that says what the chart shows, legend, drawing, and the data as a
// table. The drawing is laid out anew when its width changes.

import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { lookSample } from "./look.js";

/**
 * @typedef {object} Chart
 * @property {string} title
 * @property {string} summary what the chart shows, in one sentence
 * @property {{name: string, look: number}[]} [legend]
 * @property {(width: number) => SVGSVGElement} draw
 * @property {HTMLElement} table
 * @property {string} [note] a remark below the drawing
 */

/** @type {WeakMap<Element, (width: number) => SVGSVGElement>} */
const drawings = new WeakMap();
const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => draw(target)));
let figures = 0;

/**
 * @param {Chart} chart
 * @param {"h3" | "h4"} heading
 */
export function chartFigure({ title, summary, legend = [], draw, table, note }, heading = "h3") {
  const id = `chart-${figures += 1}`;
  const place = h("div", { class: "chart" });
  drawings.set(place, (width) => {
    const drawing = draw(width);
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-labelledby", `${id}-title`);
    drawing.setAttribute("aria-describedby", `${id}-summary`);
    return drawing;
  });
  observer.observe(place);
  return h("figure", { class: "card pad chart-figure", "aria-labelledby": `${id}-title` },
    h(heading, { id: `${id}-title` }, title),
    h("p", { class: "quiet small", id: `${id}-summary` }, summary),
    legend.length > 1 && h("ul", { class: "legend small" }, legend.map(({ name, look }) => h("li", null, lookSample(look), h("span", null, name)))),
    place,
    note && h("p", { class: "quiet small" }, note),
    h("details", null, h("summary", null, t("数据表", "Data table")), table));
}

/** Lays out every chart at its present width, before the browser measures a printed page. */
export function redrawCharts() {
  document.querySelectorAll(".chart").forEach(draw);
}

/** @param {Element} place */
function draw(place) {
  const width = Math.floor(place.clientWidth);
  const isDrawn = place.firstElementChild?.getAttribute("width") === String(width);
  if (width > 0 && !isDrawn) fill(place, drawings.get(place)?.(width));
}
