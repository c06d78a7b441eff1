// What stands in the place of what is on its way, in its size, so that nothing moves when it comes.

import { h } from "../core/dom.js";

/**
 * Grey boxes that move a little.
 * @param {number} count
 * @param {string} height as CSS writes it
 */
export function skeletons(count, height) {
  return Array.from({ length: count }, () => {
    const box = h("div", { class: "skeleton", "aria-hidden": "true" });
    // No style attribute: the page's policy would refuse it.
    box.style.height = height;
    return box;
  });
}
