// Marks of a timeline: arrows, symbols and their texts.

import { svg } from "../../core/dom.js";

const HEAD_PX = 7;
/** Estimated widths of a letter and of a Chinese character. */
const LETTER_PX = { mono: 7, face: 6.6 };
const HAN_PX = 12;

/** Shapes around the origin. */
const SHAPES = {
  point: "M0 -6L6 0L0 6L-6 0Z",
  pause: "M-5 -6h3.500v12h-3.500zM1.5 -6h3.500v12h-3.500z",
  play: "M-4 -6.500L6 0L-4 6.500Z",
  cross: "M-6.500 -6.500L6.500 6.500M6.500 -6.500L-6.500 6.500",
  restart: "M5.500 -3.500A6.500 6.500 0 1 0 6.500 0M6.500 -7.500V-3H2",
  clock: "M0 -7a7 7 0 1 0 0.01 0M0 -4V0.500L3 2.500",
  failover: "M-7 -3H6M3 -6.500L6.500 -3L3 0.500M7 4H-6M-3 0.500L-6.500 4L-3 7.500",
  units: "M0 -6.500V6.500M-6.500 0H6.500",
  warn: "M0 -8L9 7H-9ZM0 -3V2M0 4.500V5",
};

/**
 * Draws a horizontal arrow.
 * @param {number} from x
 * @param {number} to x
 * @param {number} y
 * @param {string} look classes
 */
export function arrow(from, to, y, look) {
  const back = from < to ? -HEAD_PX : HEAD_PX;
  return svg("g", { class: `tl-arrow ${look}` },
    svg("path", { class: "tl-shaft", d: `M${from} ${y}H${to + back / 2}` }),
    svg("path", { class: "tl-head", d: `M${to} ${y}l${back} ${-HEAD_PX / 1.7}v${(2 * HEAD_PX) / 1.7}Z` }));
}

/**
 * @param {keyof typeof SHAPES} shape
 * @param {number} x
 * @param {number} y
 * @param {string} look classes
 */
export function symbol(shape, x, y, look) {
  return svg("path", { class: `tl-symbol ${look}`, d: SHAPES[shape], transform: `translate(${x} ${y})` });
}

/**
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {string} look classes
 * @param {"start" | "middle" | "end"} [anchor]
 */
export function label(text, x, y, look, anchor = "start") {
  return text !== "" && svg("text", { class: look, x, y, "text-anchor": anchor }, text);
}

/**
 * Shortens a text to a width: whole, else with an ellipsis, else its first word, else nothing.
 * @param {string} text
 * @param {number} px
 * @param {"mono" | "face"} face
 */
export function fitted(text, px, face) {
  if (widthOf(text, face) <= px) return text;
  let short = "";
  for (const letter of text) {
    if (widthOf(`${short}${letter}…`, face) > px) break;
    short += letter;
  }
  if (short.length >= 8) return `${short.trimEnd()}…`;
  const word = text.split(/[\s_]/)[0];
  return widthOf(word, face) <= px ? word : "";
}

/**
 * @param {string} text
 * @param {"mono" | "face"} face
 */
export function widthOf(text, face) {
  return [...text].reduce((sum, letter) => sum + (letter >= "\u2e80" ? HAN_PX : LETTER_PX[face]), 0);
}
