// A QR code drawn as one SVG path.

import { svg } from "../core/dom.js";

/**
 * `size`: modules per side; `quietZone`: light modules around; `path`: the dark modules
 * @typedef {{size: number, quietZone: number, path: string}} Qr
 */

/**
 * @param {Qr} qr
 * @param {string} label
 */
export function qrCode({ size, quietZone, path }, label) {
  // Dark on white in every colour scheme, as scanners expect.
  const side = size + 2 * quietZone;
  return svg("svg", { class: "qr", viewBox: `${-quietZone} ${-quietZone} ${side} ${side}`, role: "img", "aria-label": label },
    svg("rect", { x: -quietZone, y: -quietZone, width: side, height: side, fill: "#fff" }), svg("path", { d: path, fill: "#000" }));
}
