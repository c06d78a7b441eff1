// Names beside the dots of a map, as many as there is room for.

/** @typedef {{left: number, top: number, width: number, height: number}} Box */
/** @typedef {{left: number, top: number, radius: number, text: string}} Dot */

/** Sizes of the text at 16 pixels; it grows with the reader's. */
const LINE = 14;
const WIDE = 12.5;
const NARROW = 7;
const GAP = 4;

/**
 * Where the names stand (their left end, and the line that they stand on): those of larger dots first; one that would cover
 * something is left out.
 * @param {Dot[]} dots
 * @param {{width: number, height: number}} size
 * @param {Box[]} taken where none may stand
 * @returns {{left: number, top: number, text: string}[]}
 */
export function labelled(dots, size, taken) {
  const grown = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const boxes = [...taken, ...dots.map(({ left, top, radius }) => ({ left: left - radius, top: top - radius, width: 2 * radius, height: 2 * radius }))];
  const placed = [];
  for (const dot of [...dots].sort((one, other) => other.radius - one.radius)) {
    const box = around(dot, widthOf(dot.text) * grown, LINE * grown).find((wanted) => isInside(wanted, size) && !boxes.some((box) => overlap(box, wanted)));
    if (!box) continue;
    boxes.push(box);
    placed.push({ left: box.left, top: box.top + (LINE - 3) * grown, text: dot.text });
  }
  return placed;
}

/**
 * Right of it, left, below and above.
 * @param {Dot} dot
 * @param {number} width
 * @param {number} height
 * @returns {Box[]}
 */
function around({ left, top, radius }, width, height) {
  const of = (/** @type {number} */ x, /** @type {number} */ y) => ({ left: x, top: y, width, height });
  return [of(left + radius + GAP, top - height / 2), of(left - radius - GAP - width, top - height / 2),
    of(left - width / 2, top + radius + GAP), of(left - width / 2, top - radius - GAP - height)];
}

/** @param {string} text about as wide as it is drawn at 16 pixels */
function widthOf(text) {
  return [...text].reduce((sum, letter) => sum + (letter > "\u2e7f" ? WIDE : NARROW), 0);
}

/**
 * @param {Box} box
 * @param {{width: number, height: number}} size
 */
function isInside(box, size) {
  return box.left > 0 && box.top > 0 && box.left + box.width < size.width && box.top + box.height < size.height;
}

/**
 * @param {Box} one
 * @param {Box} other
 */
function overlap(one, other) {
  return one.left < other.left + other.width && other.left < one.left + one.width && one.top < other.top + other.height && other.top < one.top + one.height;
}
