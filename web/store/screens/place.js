// The choice of a place: the device's location, a district on the map, or none.

import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { back } from "../../core/router.js";
import { screenHeader } from "../../parts/screen-header.js";
import { button } from "../../parts/button.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { readAreas } from "../areas.js";
import { areaMap } from "../map.js";
import { choosePlace, place, locate } from "../place.js";

/** @typedef {import("../areas.js").Area} Area */

/** Height of the map relative to its width. */
const SHAPE = 0.75;
const HIGHEST = 520;

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title, restoreScroll }) {
  title(t("选位置", "Set location"));
  const map = h("div", { class: "card map-card" }, skeletons(1, "16rem"));
  const list = h("div", null);
  const current = place();
  root.append(h("div", { class: "middle stack" }, screenHeader(t("选位置", "Set location")),
    h("p", { class: "quiet" }, current ? t(`现在：${current.name || "我的位置"}`, `Current: ${current.name || "my location"}`) : t("不选也可以逛。", "You can browse without a location.")),
    h("div", { class: "row wrap" }, !isKiosk && button(t("用我的位置", "Use my location"), useMyLocation, { look: ["main"], icon: "place" }),
      current && button(t("不设位置", "Clear location"), () => choose(null))),
    map, list));
  await show();
  restoreScroll();

  async function show() {
    try {
      const areas = await readAreas(signal);
      if (areas.length > 0) render(areas);
      else fill(map, emptyState("place", t("还没有店铺，地图是空的。", "No shops yet, so the map is empty.")));
    } catch (error) {
      if (!signal.aborted) fill(map, errorState(error, show));
    }
  }

  /** @param {Area[]} areas */
  function render(areas) {
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
    fill(list, h("h2", { class: "head" }, t("按地段选", "By area")),
      h("ul", { class: "row wrap" }, areas.map((area) => h("li", null, button(t(`${area.area} ${area.shops}`, `${area.area} ${area.shops}`), () => chooseArea(area))))));
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

  async function useMyLocation() {
    let found;
    try {
      found = await locate();
    } catch {
      showToast(t("无法获取位置，请在地图上选择。", "Your location is unavailable. Choose a place on the map."), { bad: true });
      return;
    }
    if (!signal.aborted) choose(found);
  }
}
