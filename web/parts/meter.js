// How much is left of something, as a bar that drains.

import { h } from "../core/dom.js";

/**
 * @param {string} label what it is that is left
 * @returns {{root: HTMLElement, show: (left: number, whole: number, text?: string) => void}} `text` says it in words
 */
export function meter(label) {
  const full = h("span", { class: "meter-full" });
  const root = h("span", { class: "meter", role: "meter", "aria-label": label, "aria-valuemin": 0 }, full);
  return {
    root,
    show: (left, whole, text = `${left} / ${whole}`) => {
      const share = whole > 0 ? Math.min(1, Math.max(0, left / whole)) : 0;
      full.style.transform = `scaleX(${share})`;
      root.classList.toggle("low", share <= 0.1);
      for (const [name, value] of Object.entries({ max: Math.max(whole, left), now: left, text })) {
        root.setAttribute(`aria-value${name}`, String(value));
      }
    },
  };
}
