// Placeholders for loading content, in the content's size: no layout shift.

import { h } from "../core/dom.js";

/**
 * Creates pulsing grey boxes.
 * @param {number} count a CSS length
 * @param {string} height as CSS writes it
 */
export function skeletons(count, height) {
  return Array.from({ length: count }, () => {
    const box = h("div", { class: "skeleton", "aria-hidden": "true" });
    // The content security policy forbids style attributes.
    box.style.height = height;
    return box;
  });
}
