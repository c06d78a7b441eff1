// A meter of a remaining amount.

import { h } from "../core/dom.js";

/**
 * @param {string} label name of the amount
 * @returns {{root: HTMLElement, show: (left: number, total: number, text?: string) => void}} `text`: the
 * value for screen readers
 */
export function meter(label) {
  const bar = h("span", { class: "meter-full" });
  const root = h("span", { class: "meter", role: "meter", "aria-label": label, "aria-valuemin": 0 }, bar);
  return {
    root,
    show: (left, total, text = `${left} / ${total}`) => {
      const share = total > 0 ? Math.min(1, Math.max(0, left / total)) : 0;
      bar.style.transform = `scaleX(${share})`;
      root.classList.toggle("low", share <= 0.1);
      for (const [name, value] of Object.entries({ max: Math.max(total, left), now: left, text })) {
        root.setAttribute(`aria-value${name}`, String(value));
      }
    },
  };
}
