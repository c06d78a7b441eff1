// A span that runs down by the mall's time.

import { every, h } from "../core/dom.js";
import { both } from "../core/language.js";
import { clockText, until } from "../core/moments.js";

const DAY_MS = 86_400_000;

/**
 * @param {import("../core/moments.js").Moment} moment
 * @param {AbortSignal} signal
 * @param {() => void} [over] once it is reached
 */
export function countdown(moment, signal, over) {
  const text = h("time", { class: "countdown", role: "timer" });
  let isOver = false;
  function show() {
    const left = until(moment);
    const days = Math.floor(left / DAY_MS);
    text.textContent = days > 0 ? both(`${days}天 ${clockText(left % DAY_MS)}`, `${days} d ${clockText(left % DAY_MS)}`) : clockText(left);
    if (left <= 0 && !isOver) {
      isOver = true;
      over?.();
    }
  }
  show();
  if (over && !isOver) {
    // To the instant, and not at the next tick.
    const timer = setTimeout(show, Math.min(until(moment) + 1, 2 ** 31 - 1));
    signal.addEventListener("abort", () => clearTimeout(timer));
  }
  every(250, signal, show);
  return text;
}
