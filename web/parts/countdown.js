// A countdown to a moment of the server's time.

import { repeatWhileVisible, h } from "../core/dom.js";
import { t } from "../core/language.js";
import { formatClock, msUntil } from "../core/server-time.js";

const DAY_MS = 86_400_000;

/**
 * @param {import("../core/server-time.js").Moment} moment
 * @param {AbortSignal} signal
 * @param {() => void} [onEnd] called once the moment is reached
 */
export function countdown(moment, signal, onEnd) {
  const text = h("time", { class: "countdown", role: "timer" });
  let isOver = false;
  function render() {
    const leftMs = msUntil(moment);
    const days = Math.floor(leftMs / DAY_MS);
    text.textContent = days > 0 ? t(`${days}天 ${formatClock(leftMs % DAY_MS)}`, `${days} d ${formatClock(leftMs % DAY_MS)}`) : formatClock(leftMs);
    if (leftMs <= 0 && !isOver) {
      isOver = true;
      onEnd?.();
    }
  }
  render();
  if (onEnd && !isOver) {
    // Fires exactly at the moment, not at the next tick.
    const timer = setTimeout(render, Math.min(msUntil(moment) + 1, 2 ** 31 - 1));
    signal.addEventListener("abort", () => clearTimeout(timer));
  }
  repeatWhileVisible(250, signal, render);
  return text;
}
