// The legend of a timeline: what its marks mean.

import { h, svg } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { symbol } from "./marks.js";

/** @typedef {import("./model.js").Model} Model */

/** @param {Model} model */
export function legend({ story, activities, standstills }) {
  const has = (/** @type {string} */ kind) => standstills.some((one) => one.kind === kind);
  const names = [...new Map(activities.map(({ name, look }) => [name, look]))];
  const hasPoints = story.some(({ kind }) => kind.what === "reached");
  return h("ul", { class: "legend small tl-legend" },
    names.slice(0, 6).map(([name, look]) => item(svg("rect", { class: `tl-activity look look-${look % 6}`, x: 6, y: 1, width: 8, height: 14, rx: 2 }),
      name === "W" ? t("工作线程", "worker") : t(`请求${name}`, `request ${name}`))),
    names.length > 6 && h("li", null, "…"),
    hasPoints && item(symbol("point", 10, 8, "filled look look-5"), t("到达某一步", "reaches a step")),
    has("held") && item(sample("held"), t("被按住", "held")),
    has("stopped") && item(sample("stopped"), t("进程暂停", "process stopped")),
    has("dead") && item(symbol("cross", 10, 8, "kill"), t("进程被杀", "process killed")));
}

/**
 * @param {SVGElement} mark
 * @param {string} text
 */
function item(mark, text) {
  return h("li", null, svg("svg", { class: "tl-sample", width: 20, height: 16, "aria-hidden": "true" }, mark), h("span", null, text));
}

/** @param {"held" | "stopped"} kind */
function sample(kind) {
  return svg("rect", { class: `tl-standstill ${kind}`, x: 3, y: 1, width: 14, height: 14, rx: 3, fill: `url(#tl-${kind})` });
}
