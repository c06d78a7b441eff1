// Where one is, or wants to look around: asked of the browser, or chosen on a map of the shops; or nowhere.

import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/kept.js";
import { both } from "../../core/language.js";
import { back } from "../../core/router.js";
import { head } from "../../parts/head.js";
import { button } from "../../parts/button.js";
import { empty, failure } from "../../parts/empty.js";
import { skeletons } from "../../parts/skeleton.js";
import { say } from "../../parts/toast.js";
import { readAreas } from "../areas.js";
import { areaMap } from "../map.js";
import { choosePlace, place, whereAmI } from "../place.js";

/** @typedef {import("../areas.js").Area} Area */

/** How high the map is for its width. */
const SHAPE = 0.75;
const HIGHEST = 520;

/** @param {import("../../core/router.js").Showing} showing */
export async function open({ root, signal, title, settled }) {
  title(both("选位置", "Set place"));
  const map = h("div", { class: "card map-card" }, skeletons(1, "16rem"));
  const list = h("div", null);
  const known = place();
  root.append(h("div", { class: "middle stack" }, head(both("选位置", "Set place")),
    h("p", { class: "quiet" }, known ? both(`现在：${known.name || "我的位置"}`, `Now: ${known.name || "my place"}`) : both("不选也可以逛。", "You can look around without one, too.")),
    h("div", { class: "row wrap" }, !isKiosk && button(both("用我的位置", "Use my location"), ask, { look: ["main"], icon: "place" }),
      known && button(both("不设位置", "No place"), () => choose(null))),
    map, list));
  await show();
  settled();

  async function show() {
    try {
      const areas = await readAreas(signal);
      if (areas.length > 0) draw(areas);
      else fill(map, empty("place", both("还没有店铺，地图是空的。", "There are no shops yet, and the map is empty.")));
    } catch (error) {
      if (!signal.aborted) fill(map, failure(error, show));
    }
  }

  /** @param {Area[]} areas */
  function draw(areas) {
    let drawn = 0;
    const drawing = h("div", null);
    fill(map, drawing);
    const seen = new ResizeObserver(() => {
      const width = Math.round(drawing.clientWidth);
      if (!width || width === drawn) return;
      drawn = width;
      fill(drawing, areaMap(areas, { width, height: Math.min(HIGHEST, Math.round(width * SHAPE)) }, place(), chooseArea));
    });
    seen.observe(drawing);
    signal.addEventListener("abort", () => seen.disconnect());
    fill(list, h("h2", { class: "head" }, both("按地段选", "By part of town")),
      h("ul", { class: "row wrap" }, areas.map((area) => h("li", null, button(both(`${area.area} ${area.shops}`, `${area.area} ${area.shops}`), () => chooseArea(area))))));
  }

  /** @param {Area} area */
  function chooseArea({ area, x, y }) {
    choose({ x, y, name: area });
  }

  /** @param {import("../place.js").Place | null} chosen */
  function choose(chosen) {
    choosePlace(chosen);
    back("/shops");
  }

  async function ask() {
    let found;
    try {
      found = await whereAmI();
    } catch {
      say(both("没有得到位置，请在地图上选。", "The browser did not tell where you are; choose on the map."), { bad: true });
      return;
    }
    if (!signal.aborted) choose(found);
  }
}
