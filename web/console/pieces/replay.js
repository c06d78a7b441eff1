// A replay of attempts to claim, in their order of time: who gets units, and who is refused.

import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { choice } from "../../parts/choice.js";
import { icon } from "../../parts/icons.js";
import { outcomeChip, outcomeGroup } from "../attempt-names.js";
import { replayChart, replayLegend } from "./replay-chart.js";

/** @typedef {import("../screens/attempts.js").Attempt} Attempt */
/** @typedef {Record<ReturnType<typeof outcomeGroup>, number>} Counts */

const SPEEDS = [1, 10, 100];
/** Time without attempts that a replay waits at most; the rest is skipped. */
const IDLE_MAX_MS = 1_500;
/** Interval of a replay without motion. */
const STEP_MS = 1_000;
/** Longest time that passes between two pictures: a hidden page draws none. */
const PICTURE_MAX_MS = 1_000;
/** Number of latest attempts listed beside the chart. */
const LATEST = 5;

/**
 * @param {(at: number, parts?: {date?: boolean}) => string} time formats a moment
 * @param {AbortSignal} signal stops the replay
 * @returns {{root: HTMLElement, set: (attempts: Attempt[], limit: number | undefined) => void}} `set`: takes
 * attempts in any order and shows all of them; `limit`: score from which an attempt looks automated
 */
export function replay(time, signal) {
  const chart = replayChart();
  const control = h("button", { type: "button", class: "button main", onclick: () => (isPlaying ? pause() : play()) });
  const slider = h("input", { type: "range", class: "replay-slider", min: 0, step: 1, "aria-label": t("回放到第几次抢购", "Attempts played"), oninput: () => seek(Number(slider.value)) });
  const speeds = choice(t("速度", "Speed"), SPEEDS.map((speed) => ({ value: String(speed), text: t(`${speed} 倍`, `${speed}×`) })), "1", (value) => (speed = Number(value)));
  const clock = h("p", { class: "number" });
  const latest = h("ol", { class: "replay-latest", "aria-label": t("刚刚的抢购", "Latest attempts") });
  const state = h("p", { class: "unseen", role: "status" });
  const root = h("div", { class: "stack" },
    h("div", { class: "row wrap" }, control, speeds), slider, clock, chart.root, replayLegend(), latest, state);
  /** @type {Attempt[]} oldest first */
  let attempts = [];
  /** Counts of the outcomes after each number of attempts. @type {Counts[]} */
  let totals = [];
  let count = 0;
  /** Moment that the replay has come to. */
  let cursor = 0;
  let speed = SPEEDS[0];
  let isPlaying = false;
  /** Time of the last picture. */
  let drawnAt = 0;
  signal.addEventListener("abort", () => (isPlaying = false));
  showControl();
  return { root, set };

  /**
   * @param {Attempt[]} given
   * @param {number | undefined} limit
   */
  function set(given, limit) {
    attempts = given.toSorted((one, other) => one.at - other.at || one.number - other.number);
    totals = [{ got: 0, stopped: 0, other: 0 }];
    for (const { outcome } of attempts) {
      const before = totals[totals.length - 1];
      const group = outcomeGroup(outcome);
      totals.push({ ...before, [group]: before[group] + 1 });
    }
    slider.max = String(attempts.length);
    chart.set(attempts, limit);
    if (isPlaying) pause();
    seek(attempts.length);
  }

  function play() {
    if (attempts.length === 0) return;
    if (count === attempts.length) seek(0);
    isPlaying = true;
    state.textContent = "";
    showControl();
    drawnAt = performance.now();
    scheduleNext();
  }

  function pause() {
    isPlaying = false;
    showControl();
    state.textContent = positionText();
  }

  /** Without motion the picture changes once a second. */
  function scheduleNext() {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) setTimeout(() => advance(performance.now()), STEP_MS);
    else requestAnimationFrame(advance);
  }

  /** @param {number} now */
  function advance(now) {
    if (!isPlaying) return;
    const passed = Math.min(Math.max(now - drawnAt, 0), PICTURE_MAX_MS);
    drawnAt = now;
    cursor = Math.max(cursor + passed * speed, attempts[count].at - IDLE_MAX_MS * speed);
    let reached = count;
    while (reached < attempts.length && attempts[reached].at <= cursor) reached += 1;
    show(reached);
    if (reached === attempts.length) pause();
    else scheduleNext();
  }

  /** @param {number} wanted number of attempts played */
  function seek(wanted) {
    cursor = attempts[Math.max(wanted - 1, 0)]?.at ?? 0;
    show(wanted);
    // The end of the slider is the end of the replay.
    if (isPlaying && wanted === attempts.length) pause();
  }

  /** @param {number} wanted */
  function show(wanted) {
    const isSame = wanted === count && latest.hasChildNodes();
    count = wanted;
    chart.reveal(count, cursor);
    slider.value = String(count);
    slider.setAttribute("aria-valuetext", positionText());
    const { got, stopped, other } = totals[count];
    clock.textContent = t(`${time(cursor)} · 抢到 ${got} · 拦下 ${stopped} · 其他 ${other}`, `${time(cursor)} · got a unit: ${got} · stopped: ${stopped} · other: ${other}`);
    if (isSame) return;
    fill(latest, attempts.slice(Math.max(count - LATEST, 0), count).reverse().map(({ at, userId, outcome, score }) => h("li", { class: "row wrap" },
      h("span", { class: "number" }, time(at, { date: false })), h("span", { class: "number" }, t(`用户 ${userId}`, `User ${userId}`)), outcomeChip(outcome),
      h("span", { class: "quiet number" }, t(`${score} 分`, `score ${score}`)))));
  }

  function showControl() {
    fill(control, icon(isPlaying ? "pause" : "play"), h("span", null, isPlaying ? t("暂停", "Pause") : t("播放", "Play")));
  }

  function positionText() {
    const { got, stopped, other } = totals[count];
    return t(`${attempts.length} 次中的前 ${count} 次：抢到 ${got}，拦下 ${stopped}，其他 ${other}`,
      `First ${count} of ${attempts.length}: ${got} got a unit, ${stopped} stopped, ${other} other`);
  }
}
