// A bar chart of attempts over time, with the share that looks automated. The label describes the bars for
// screen readers.

import { fill, h, svg } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { roundUp } from "../../parts/sparkline.js";

/** @typedef {{at: number, attempts: number, accepted: number, suspicious: number}} Slot ten seconds */

const [WIDTH, HEIGHT] = [300, 60];
/** Share of a slot's width that its bar fills. */
const BAR_SHARE = 0.8;

/** @returns {{root: HTMLElement, show: (slots: Slot[]) => void}} */
export function attemptBars() {
  const chart = svg("svg", { class: "sparkline-lines", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const maxLabel = h("span", { class: "sparkline-top", "aria-hidden": "true" });
  const bars = h("div", { class: "sparkline attempt-bars", role: "img" }, chart, maxLabel);
  const root = h("div", { class: "stack tight" }, bars,
    h("p", { class: "row apart small quiet", "aria-hidden": "true" }, h("span", null, t("5 分钟前", "5 min ago")), h("span", null, t("现在", "now"))),
    h("p", { class: "row wrap small quiet" },
      h("span", { class: "row" }, h("span", { class: "swatch automated" }), t("疑似脚本", "looks automated")),
      h("span", { class: "row" }, h("span", { class: "swatch" }), t("其他抢购", "other attempts"))));
  return { root, show };

  /** @param {Slot[]} slots */
  function show(slots) {
    const max = roundUp(Math.max(...slots.map(({ attempts }) => attempts), 0));
    const step = WIDTH / Math.max(slots.length, 1);
    fill(chart, slots.map(({ attempts, suspicious }, index) => [
      bar(index * step, step, suspicious, attempts - suspicious, max, "rest"),
      bar(index * step, step, 0, suspicious, max, "automated"),
    ]).flat());
    maxLabel.textContent = max.toLocaleString();
    bars.setAttribute("aria-label", describe(slots));
  }
}

/**
 * @param {number} left
 * @param {number} step width of a slot
 * @param {number} below attempts below this part of the bar
 * @param {number} attempts
 * @param {number} max
 * @param {string} look
 */
function bar(left, step, below, attempts, max, look) {
  if (attempts <= 0) return null;
  const height = (attempts / max) * HEIGHT;
  return svg("rect", { class: look, x: left.toFixed(2), y: (HEIGHT - (below / max) * HEIGHT - height).toFixed(2), width: (step * BAR_SHARE).toFixed(2), height: height.toFixed(2) });
}

/** @param {Slot[]} slots */
function describe(slots) {
  const total = slots.reduce((sum, { attempts }) => sum + attempts, 0);
  const suspicious = slots.reduce((sum, slot) => sum + slot.suspicious, 0);
  const peak = slots.reduce((most, slot, index) => (slot.attempts > (slots[most]?.attempts ?? 0) ? index : most), 0);
  const secondsAgo = (slots.length - 1 - peak) * 10;
  const sum = t(`最近五分钟，每十秒一格：共 ${total} 次抢购，${suspicious} 次疑似脚本`, `Last five minutes by ten seconds: ${total} attempts, ${suspicious} look automated`);
  return total === 0 ? sum : t(`${sum}；最多一格在约 ${secondsAgo} 秒前，${slots[peak].attempts} 次，其中 ${slots[peak].suspicious} 次疑似脚本`,
    `${sum}; most about ${secondsAgo} s ago: ${slots[peak].attempts}, of which ${slots[peak].suspicious} look automated`);
}
