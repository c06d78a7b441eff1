// Simple maps, drawn from where the shops are: no tiles, no network.

import { h, svg } from "../core/dom.js";
import { t } from "../core/language.js";
import { distanceText } from "./cards/shop.js";
import { labelled } from "./map-labels.js";

/** @typedef {{x: number, y: number}} Spot degrees of longitude and latitude */
/** @typedef {import("./areas.js").Area} Area */
/** @typedef {{left: number, top: number}} Point in pixels */

const METRES_A_DEGREE = 111_320;
/** A small map shows at least so much to each side of its shop. */
const AROUND_M = 1_500;
/** Further away than this, the way from here does not help. */
const TOO_FAR_M = 20_000;
const SMALL = { width: 360, height: 140 };
const MARGIN = 28;

/**
 * Puts spots on a plane, as large as fits.
 * @param {Spot[]} spots
 * @param {{width: number, height: number}} size
 * @returns {(spot: Spot) => Point}
 */
function projection(spots, { width, height }) {
  const [west, east] = ends(spots.map((spot) => spot.x));
  const [south, north] = ends(spots.map((spot) => spot.y));
  const narrow = Math.cos(((south + north) / 2) * (Math.PI / 180));
  const scale = Math.min((width - 2 * MARGIN) / Math.max(1e-6, (east - west) * narrow), (height - 2 * MARGIN) / Math.max(1e-6, north - south));
  return ({ x, y }) => ({
    left: width / 2 + (x - (west + east) / 2) * narrow * scale,
    top: height / 2 - (y - (south + north) / 2) * scale,
  });
}

/**
 * How far apart two spots of one town are, in metres.
 * @param {Spot} one
 * @param {Spot} other
 */
function metresBetween(one, other) {
  const narrow = Math.cos(one.y * (Math.PI / 180));
  return Math.hypot((one.x - other.x) * narrow, one.y - other.y) * METRES_A_DEGREE;
}

/**
 * Where a shop is, among the parts of town, and how far from here.
 * @param {Spot & {name: string}} shop
 * @param {Area[]} areas
 * @param {Spot | null} here
 */
export function smallMap(shop, areas, here) {
  const away = here ? metresBetween(shop, here) : Infinity;
  const [near, reach] = [away < TOO_FAR_M ? here : null, AROUND_M / METRES_A_DEGREE];
  const corners = [{ x: shop.x - reach, y: shop.y - reach }, { x: shop.x + reach, y: shop.y + reach }, ...(near ? [near] : [])];
  const onMap = projection(corners, SMALL);
  const [at, from] = [onMap(shop), near && onMap(near)];
  const dots = areas.map((area) => ({ ...onMap(area), text: area.area, radius: 4 }))
    .filter(({ left, top }) => left > 8 && left < SMALL.width - 8 && top > 8 && top < SMALL.height - 8);
  const taken = [{ left: at.left - 14, top: at.top - 30, width: 28, height: 34 }];
  if (from) taken.push({ left: from.left - 9, top: from.top - 9, width: 18, height: 18 });
  const texts = labelled(dots, SMALL, taken);
  const label = from ? t(`地图：${shop.name}，离我${distanceText(away)}`, `Map: ${shop.name}, ${distanceText(away)} from you`) : t(`地图：${shop.name}`, `Map: ${shop.name}`);
  return h("figure", { class: "map" }, svg("svg", { viewBox: `0 0 ${SMALL.width} ${SMALL.height}`, role: "img", "aria-label": label },
    dots.map(({ left, top }) => svg("circle", { class: "map-area", cx: left, cy: top, r: 4 })),
    texts.map(({ left, top, text }) => svg("text", { class: "map-name", x: left, y: top }, text)),
    from && svg("line", { class: "map-way", x1: from.left, y1: from.top, x2: at.left, y2: at.top }),
    from && svg("circle", { class: "map-here", cx: from.left, cy: from.top, r: 6 }),
    svg("path", { class: "map-pin", d: `M${at.left} ${at.top}c-8-9-11-13-11-18a11 11 0 0 1 22 0c0 5-3 9-11 18z` }),
    svg("circle", { class: "map-eye", cx: at.left, cy: at.top - 18, r: 4 })),
  from && h("figcaption", { class: "small quiet" }, t(`离我 ${distanceText(away)}`, `${distanceText(away)} from you`)));
}

/**
 * The parts of town as dots, the larger the more shops. One is in the tab order; the arrow keys go on to its neighbours.
 * @param {Area[]} areas
 * @param {{width: number, height: number}} size
 * @param {Spot | null} here
 * @param {(area: Area) => void} choose
 */
export function areaMap(areas, size, here, choose) {
  const onMap = projection(areas, size);
  const most = Math.max(...areas.map((area) => area.shops));
  const large = Math.min(11, size.width / 45);
  const dots = apart(areas.map((area) => ({ ...onMap(area), area, text: area.area, radius: 6 + large * Math.sqrt(area.shops / most) })));
  const texts = new Map(labelled(dots, size, []).map((text) => [text.text, text]));
  const buttons = dots.map((dot, index) => {
    const text = texts.get(dot.text) ?? { left: dot.left, top: dot.top - dot.radius - 6, isHidden: true };
    return svg("g", {
      class: "isHidden" in text ? "map-dot crowded" : "map-dot", role: "button", tabindex: index === 0 ? 0 : -1,
      "aria-label": t(`${dot.text}，${dot.area.shops}家店`, `${dot.text}, ${dot.area.shops} shops`),
      onclick: () => choose(dot.area), onkeydown: (/** @type {KeyboardEvent} */ event) => key(event, index),
    }, svg("circle", { class: "map-touch", cx: dot.left, cy: dot.top, r: 22 }), svg("circle", { class: "map-spot", cx: dot.left, cy: dot.top, r: dot.radius }),
    svg("text", { class: "map-name", x: text.left, y: text.top, "text-anchor": "isHidden" in text ? "middle" : undefined }, dot.text));
  });
  const mine = here && onMap(here);

  /**
   * @param {KeyboardEvent} event
   * @param {number} index
   */
  function key(event, index) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Enter" || event.key === " ") choose(dots[index].area);
    else if (!step) return;
    else {
      const next = neighbour(dots, dots[index], step);
      for (const [other, one] of buttons.entries()) one.setAttribute("tabindex", other === next ? "0" : "-1");
      buttons[next].focus();
    }
    event.preventDefault();
  }

  return svg("svg", { class: "map-areas", viewBox: `0 0 ${size.width} ${size.height}`, role: "group", "aria-label": t("地图：选一个位置", "Map: choose a place") },
    buttons, mine && svg("circle", { class: "map-here", cx: mine.left, cy: mine.top, r: 6 }));
}

/**
 * Pushes dots apart that would cover each other: a little wrong, and each can be met with a finger.
 * @template {Point & {radius: number}} Dot
 * @param {Dot[]} dots
 * @returns {Dot[]}
 */
function apart(dots) {
  for (let round = 0; round < 40; round += 1) {
    for (const [index, one] of dots.entries()) {
      for (const other of dots.slice(index + 1)) {
        const [right, down] = [other.left - one.left || 0.1, other.top - one.top];
        const away = Math.hypot(right, down);
        const push = (one.radius + other.radius + 5 - away) / 2 / away;
        if (push <= 0) continue;
        one.left -= right * push;
        one.top -= down * push;
        other.left += right * push;
        other.top += down * push;
      }
    }
  }
  return dots;
}

/**
 * The nearest dot in a direction, or the same one.
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
function ends(numbers) {
  return [Math.min(...numbers), Math.max(...numbers)];
}
