// Maps drawn from the coordinates of shops, without tiles or network access.

import { h, svg } from "../core/dom.js";
import { isKiosk } from "../core/local-storage.js";
import { t } from "../core/language.js";
import { distanceText } from "./cards/shop.js";
import { placeLabels } from "./map-labels.js";

/** @typedef {{x: number, y: number}} Coordinates degrees of longitude and latitude */
/** @typedef {import("./areas.js").Area} Area */
/** @typedef {{left: number, top: number}} Point in pixels */

const METRES_PER_DEGREE = 111_320;
/** Minimum distance shown around the shop. */
const MIN_REACH_M = 1_500;
/** Beyond this distance, the user's place is not shown. */
const MAX_DISTANCE_M = 20_000;
const SMALL = { width: 360, height: 140 };
const MARGIN = 28;
/** Size of the names on a kiosk's map, relative to those elsewhere, as in style/kiosk.css. */
const KIOSK_TEXT = 4 / 3;

/**
 * Returns a projection of coordinates onto the plane, scaled to fit all spots.
 * @param {Coordinates[]} spots
 * @param {{width: number, height: number}} size
 * @returns {(spot: Coordinates) => Point}
 */
function projection(spots, { width, height }) {
  const [west, east] = range(spots.map((spot) => spot.x));
  const [south, north] = range(spots.map((spot) => spot.y));
  const longitudeScale = Math.cos(((south + north) / 2) * (Math.PI / 180));
  const scale = Math.min((width - 2 * MARGIN) / Math.max(1e-6, (east - west) * longitudeScale), (height - 2 * MARGIN) / Math.max(1e-6, north - south));
  return ({ x, y }) => ({
    left: width / 2 + (x - (west + east) / 2) * longitudeScale * scale,
    top: height / 2 - (y - (south + north) / 2) * scale,
  });
}

/**
 * Returns the distance in metres, for spots of one town.
 * @param {Coordinates} first
 * @param {Coordinates} second
 */
function distance(first, second) {
  const longitudeScale = Math.cos(first.y * (Math.PI / 180));
  return Math.hypot((first.x - second.x) * longitudeScale, first.y - second.y) * METRES_PER_DEGREE;
}

/**
 * Draws the place of a shop among the districts, with the distance from the user.
 * @param {Coordinates & {name: string}} shop
 * @param {Area[]} areas
 * @param {Coordinates | null} here
 */
export function smallMap(shop, areas, here) {
  const metres = here ? distance(shop, here) : Infinity;
  const [near, reach] = [metres < MAX_DISTANCE_M ? here : null, MIN_REACH_M / METRES_PER_DEGREE];
  const corners = [{ x: shop.x - reach, y: shop.y - reach }, { x: shop.x + reach, y: shop.y + reach }, ...(near ? [near] : [])];
  const onMap = projection(corners, SMALL);
  const [at, from] = [onMap(shop), near && onMap(near)];
  const dots = areas.map((area) => ({ ...onMap(area), text: area.area, radius: 4 }))
    .filter(({ left, top }) => left > 8 && left < SMALL.width - 8 && top > 8 && top < SMALL.height - 8);
  const taken = [{ left: at.left - 14, top: at.top - 30, width: 28, height: 34 }];
  if (from) taken.push({ left: from.left - 9, top: from.top - 9, width: 18, height: 18 });
  const texts = placeLabels(dots, SMALL, taken);
  const label = from ? t(`地图：${shop.name}，离我${distanceText(metres)}`, `Map: ${shop.name}, ${distanceText(metres)} from you`) : t(`地图：${shop.name}`, `Map: ${shop.name}`);
  return h("figure", { class: "map" }, svg("svg", { viewBox: `0 0 ${SMALL.width} ${SMALL.height}`, role: "img", "aria-label": label },
    dots.map(({ left, top }) => svg("circle", { class: "map-area", cx: left, cy: top, r: 4 })),
    texts.map(({ left, top, text }) => svg("text", { class: "map-name", x: left, y: top }, text)),
    from && svg("line", { class: "map-way", x1: from.left, y1: from.top, x2: at.left, y2: at.top }),
    from && svg("circle", { class: "map-here", cx: from.left, cy: from.top, r: 6 }),
    svg("path", { class: "map-pin", d: `M${at.left} ${at.top}c-8-9-11-13-11-18a11 11 0 0 1 22 0c0 5-3 9-11 18z` }),
    svg("circle", { class: "map-eye", cx: at.left, cy: at.top - 18, r: 4 })),
  from && h("figcaption", { class: "small quiet" }, t(`离我 ${distanceText(metres)}`, `${distanceText(metres)} from you`)));
}

/**
 * Draws the districts as dots sized by number of shops. One dot is in the tab order; arrow keys move to its
 * neighbours.
 * @param {Area[]} areas
 * @param {{width: number, height: number}} size
 * @param {Coordinates | null} here
 * @param {(area: Area) => void} choose
 */
export function areaMap(areas, size, here, choose) {
  const onMap = projection(areas, size);
  const most = Math.max(...areas.map((area) => area.shops));
  const large = Math.min(11, size.width / 45);
  const dots = separate(areas.map((area) => ({ ...onMap(area), area, text: area.area, radius: 6 + large * Math.sqrt(area.shops / most) })));
  const texts = new Map(placeLabels(dots, size, [], isKiosk ? KIOSK_TEXT : 1).map((text) => [text.text, text]));
  const buttons = dots.map((dot, index) => {
    const text = texts.get(dot.text) ?? { left: dot.left, top: dot.top - dot.radius - 6, isHidden: true };
    return svg("g", {
      class: "isHidden" in text ? "map-dot crowded" : "map-dot", role: "button", tabindex: index === 0 ? 0 : -1,
      "aria-label": t(`${dot.text}，${dot.area.shops}家店`, `${dot.text}, ${dot.area.shops} shops`),
      onclick: () => choose(dot.area), onkeydown: (/** @type {KeyboardEvent} */ event) => onKeyDown(event, index),
    }, svg("circle", { class: "map-touch", cx: dot.left, cy: dot.top, r: 22 }), svg("circle", { class: "map-spot", cx: dot.left, cy: dot.top, r: dot.radius }),
    svg("text", { class: "map-name", x: text.left, y: text.top, "text-anchor": "isHidden" in text ? "middle" : undefined }, dot.text));
  });
  const ownPoint = here && onMap(here);

  /**
   * @param {KeyboardEvent} event
   * @param {number} index
   */
  function onKeyDown(event, index) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Enter" || event.key === " ") choose(dots[index].area);
    else if (!step) return;
    else {
      const next = neighbour(dots, dots[index], step);
      for (const [second, first] of buttons.entries()) first.setAttribute("tabindex", second === next ? "0" : "-1");
      buttons[next].focus();
    }
    event.preventDefault();
  }

  return svg("svg", { class: "map-areas", viewBox: `0 0 ${size.width} ${size.height}`, role: "group", "aria-label": t("地图：选一个位置", "Map: choose a location") },
    buttons, ownPoint && svg("circle", { class: "map-here", cx: ownPoint.left, cy: ownPoint.top, r: 6 }));
}

/**
 * Moves overlapping dots apart: slightly inexact, but each remains easy to touch.
 * @template {Point & {radius: number}} Dot
 * @param {Dot[]} dots
 * @returns {Dot[]}
 */
function separate(dots) {
  for (let round = 0; round < 40; round += 1) {
    for (const [index, first] of dots.entries()) {
      for (const second of dots.slice(index + 1)) {
        const [right, down] = [second.left - first.left || 0.1, second.top - first.top];
        const metres = Math.hypot(right, down);
        const push = (first.radius + second.radius + 5 - metres) / 2 / metres;
        if (push <= 0) continue;
        first.left -= right * push;
        first.top -= down * push;
        second.left += right * push;
        second.top += down * push;
      }
    }
  }
  return dots;
}

/**
 * Returns the index of the nearest dot in a direction, or of the same dot.
 * @param {Point[]} dots
 * @param {Point} from
 * @param {number[]} step
 */
function neighbour(dots, from, [right, down]) {
  let [best, least] = [dots.indexOf(from), Infinity];
  for (const [index, { left, top }] of dots.entries()) {
    const [ahead, aside] = [(left - from.left) * right + (top - from.top) * down, Math.abs((left - from.left) * down) + Math.abs((top - from.top) * right)];
    const cost = ahead + 2 * aside;
    if (ahead > 0 && cost < least) [best, least] = [index, cost];
  }
  return best;
}

/** @param {number[]} numbers */
function range(numbers) {
  return [Math.min(...numbers), Math.max(...numbers)];
}
