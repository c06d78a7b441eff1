// A picture gallery, controlled by swiping, arrow keys or buttons.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { iconButton } from "./button.js";
import { picture } from "./picture.js";

/**
 * @param {string[]} paths at least one
 * @param {string} label description of the pictures
 */
export function gallery(paths, label) {
  /** @param {number} index */
  const nameOf = (index) => t(`${label}，第 ${index + 1} 张，共 ${paths.length} 张`, `${label}, ${index + 1} of ${paths.length}`);
  const track = h("ul", { class: "gallery-track", tabindex: paths.length > 1 ? 0 : undefined, "aria-label": label },
    paths.map((path, index) => h("li", null, picture(path, paths.length > 1 ? nameOf(index) : label, { eager: index === 0 }))));
  const root = h("div", { class: "gallery" }, track);
  if (paths.length === 1) return root;

  const dots = paths.map(() => h("span", null));
  const [previous, next] = [
    iconButton("back", t("上一张", "Previous picture"), () => scrollBy(-1)), iconButton("forward", t("下一张", "Next picture"), () => scrollBy(1)),
  ];
  previous.classList.add("gallery-before");
  next.classList.add("gallery-after");
  root.append(previous, next, h("div", { class: "gallery-dots", "aria-hidden": "true" }, dots));

  const currentIndex = () => Math.round(track.scrollLeft / Math.max(1, track.clientWidth));
  /** @param {number} by */
  const scrollBy = (by) => track.scrollTo({ left: (currentIndex() + by) * track.clientWidth, behavior: "smooth" });
  const updateControls = () => {
    const current = currentIndex();
    for (const [index, dot] of dots.entries()) dot.classList.toggle("here", index === current);
    previous.disabled = current === 0;
    next.disabled = current === paths.length - 1;
  };
  track.addEventListener("scroll", updateControls, { passive: true });
  track.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    scrollBy(by);
  });
  updateControls();
  return root;
}
