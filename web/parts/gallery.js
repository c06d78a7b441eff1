// Pictures side by side: swiped, turned with the arrow keys, or with the buttons beside them.

import { h } from "../core/dom.js";
import { both } from "../core/language.js";
import { iconButton } from "./button.js";
import { picture } from "./picture.js";

/**
 * @param {string[]} paths at least one
 * @param {string} label what they show
 */
export function gallery(paths, label) {
  /** @param {number} index */
  const nameOf = (index) => both(`${label}，第 ${index + 1} 张，共 ${paths.length} 张`, `${label}, ${index + 1} of ${paths.length}`);
  const track = h("ul", { class: "gallery-track", tabindex: paths.length > 1 ? 0 : undefined, "aria-label": label },
    paths.map((path, index) => h("li", null, picture(path, paths.length > 1 ? nameOf(index) : label, { soon: index === 0 }))));
  const root = h("div", { class: "gallery" }, track);
  if (paths.length === 1) return root;

  const dots = paths.map(() => h("span", null));
  const [before, after] = [
    iconButton("back", both("上一张", "Previous picture"), () => turn(-1)), iconButton("forward", both("下一张", "Next picture"), () => turn(1)),
  ];
  before.classList.add("gallery-before");
  after.classList.add("gallery-after");
  root.append(before, after, h("div", { class: "gallery-dots", "aria-hidden": "true" }, dots));

  const shown = () => Math.round(track.scrollLeft / Math.max(1, track.clientWidth));
  /** @param {number} by */
  const turn = (by) => track.scrollTo({ left: (shown() + by) * track.clientWidth, behavior: "smooth" });
  const mark = () => {
    const here = shown();
    for (const [index, dot] of dots.entries()) dot.classList.toggle("here", index === here);
    before.disabled = here === 0;
    after.disabled = here === paths.length - 1;
  };
  track.addEventListener("scroll", mark, { passive: true });
  track.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    turn(by);
  });
  mark();
  return root;
}
