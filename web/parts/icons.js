// Line icons on a 24 by 24 grid.

import { svg } from "../core/dom.js";

const PATHS = {
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  shop: "M4 10l1.5-5h13L20 10M4 10v1a2.7 2.7 0 0 0 5.3 0 2.7 2.7 0 0 0 5.4 0A2.7 2.7 0 0 0 20 11v-1zM6 14v6h12v-6",
  note: "M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h5",
  order: "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6",
  me: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c.6-4 3.6-6 8-6s7.4 2 8 6",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16.5 16.500L21 21",
  place: "M12 21s7-6.2 7-11.500A7 7 0 0 0 5 9.500C5 14.8 12 21 12 21zM12 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  back: "M15 5l-7 7 7 7",
  forward: "M9 5l7 7-7 7",
  down: "M5 9l7 7 7-7",
  up: "M5 15l7-7 7 7",
  first: "M5 5h14M5 18l7-7 7 7",
  last: "M5 19h14M5 6l7 7 7-7",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  check: "M5 12.500l5 5L19 7",
  heart: "M12 20S4 15 4 9.300A4.3 4.3 0 0 1 12 7a4.3 4.3 0 0 1 8 2.300C20 15 12 20 12 20z",
  thumb: "M7 20V10l4-7a2 2 0 0 1 2.500 2.600L12.500 9H19a1.500 1.500 0 0 1 1.500 1.900l-2 7.900a1.500 1.500 0 0 1-1.500 1.200zM3.500 10H7v10H3.500z",
  comment: "M4 5h16v11h-9l-4 4v-4H4z",
  star: "M12 3.500l2.6 5.4 5.9.8-4.3 4.1 1 5.9-5.2-2.8-5.2 2.8 1-5.9-4.3-4.1 5.9-.8z",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2",
  bolt: "M13 3L5 14h6l-1 7 8-11h-6z",
  ticket: "M4 7h16v3.500a1.7 1.7 0 0 0 0 3.400V17H4v-3.100a1.7 1.7 0 0 0 0-3.400zM14 7v10",
  camera: "M4 8h4l1.5-2.500h5L16 8h4v11H4zM12 16.500a3.3 3.3 0 1 0 0-6.6 3.3 3.3 0 0 0 0 6.600z",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.500h.01",
  calendar: "M5 6h14v14H5zM5 10h14M9 3.500V7M15 3.500V7",
  gear: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.600l2.1 2.100M16.3 16.300l2.1 2.100M18.4 5.600l-2.1 2.100M7.7 16.300l-2.1 2.1",
  out: "M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9",
  cash: "M3 7h18v10H3zM12 14.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM6 10v4M18 10v4",
  print: "M7 9V4h10v5M5 9h14v8h-3M8 17H5V9M8 14h8v6H8z",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  flag: "M6 21V4h11l-2 4 2 4H6",
  people: "M9 11.500a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c.4-3.5 2.7-5.5 6.5-5.500s6.1 2 6.5 5.500M15.5 4.800a3.5 3.5 0 0 1 0 6.400M17.5 14.800c2.3.7 3.7 2.5 4 5.2",
  chart: "M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6",
  shield: "M12 3l7 3v5c0 5-3 8.300-7 10-4-1.700-7-5-7-10V6zM9 12l2 2 4-4",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  pause: "M8 5v14M16 5v14",
  play: "M7 5l12 7-12 7z",
  stop: "M6 6h12v12H6z",
  warn: "M12 4l9 16H3zM12 10v4M12 17h.01",
  offline: "M3 3l18 18M5 12a10 10 0 0 1 4-2.500M8.5 15.500a5 5 0 0 1 5.5-1M12 19h.01M13 8a11 11 0 0 1 6.5 3.5",
  scan: "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M4 12h16",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  food: "M7 3v7a2 2 0 0 0 4 0V3M9 12v9M17 3c-2 1-3 3.5-3 7h3v11",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.600L7 7M17 17l1.4 1.400M18.4 5.600L17 7M7 17l-1.4 1.4",
};

/** @typedef {keyof typeof PATHS} IconName */

/**
 * Creates a decorative icon, hidden from screen readers.
 * @param {IconName} name
 * @param {{full?: boolean}} [options] `full`: filled
 */
export function icon(name, { full = false } = {}) {
  return svg("svg", { class: full ? "icon full" : "icon", viewBox: "0 0 24 24", "aria-hidden": "true" },
    svg("path", { d: PATHS[name] }));
}
