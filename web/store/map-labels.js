// Placement of labels beside the dots of a map, without overlaps.

/** @typedef {{left: number, top: number, width: number, height: number}} Box */
/** @typedef {{left: number, top: number, radius: number, text: string}} Dot */

/** Sizes in pixels at a font size of 16 pixels; scaled with the user's font size. */
const LINE_HEIGHT = 14;
const CJK_WIDTH = 12.5;
const LATIN_WIDTH = 7;
const GAP = 4;

/**
 * Returns the left end and the baseline of each label. Larger dots come first; labels without free space are
 * left out.
 * @param {Dot[]} dots
 * @param {{width: number, height: number}} size
 * @param {Box[]} taken areas without labels
 * @param {number} [enlarged] size of the text, relative to that of a small map
 * @returns {{left: number, top: number, text: string}[]}
 */
export function placeLabels(dots, size, taken, enlarged = 1) {
  const scale = (enlarged * parseFloat(getComputedStyle(document.documentElement).fontSize)) / 16;
  const boxes = [...taken, ...dots.map(({ left, top, radius }) => ({ left: left - radius, top: top - radius, width: 2 * radius, height: 2 * radius }))];
  const placed = [];
  for (const dot of [...dots].sort((first, second) => second.radius - first.radius)) {
    const box = candidates(dot, estimateWidth(dot.text) * scale, LINE_HEIGHT * scale).find((wanted) => isInside(wanted, size) && !boxes.some((box) => overlap(box, wanted)));
    if (!box) continue;
    boxes.push(box);
    placed.push({ left: box.left, top: box.top + (LINE_HEIGHT - 3) * scale, text: dot.text });
  }
  return placed;
}

/**
 * Returns the possible boxes: right, left, below, above.
 * @param {Dot} dot
 * @param {number} width
 * @param {number} height
 * @returns {Box[]}
 */
function candidates({ left, top, radius }, width, height) {
  const of = (/** @type {number} */ x, /** @type {number} */ y) => ({ left: x, top: y, width, height });
  return [of(left + radius + GAP, top - height / 2), of(left - radius - GAP - width, top - height / 2),
    of(left - width / 2, top + radius + GAP), of(left - width / 2, top - radius - GAP - height)];
}

/** @param {string} text width in pixels at a font size of 16 pixels, estimated */
function estimateWidth(text) {
  return [...text].reduce((sum, letter) => sum + (letter > "\u2e7f" ? CJK_WIDTH : LATIN_WIDTH), 0);
}

/**
 * @param {Box} box
 * @param {{width: number, height: number}} size
 */
function isInside(box, size) {
  return box.left > 0 && box.top > 0 && box.left + box.width < size.width && box.top + box.height < size.height;
}

/**
 * @param {Box} first
 * @param {Box} second
 */
function overlap(first, second) {
  return first.left < second.left + second.width && second.left < first.left + first.width && first.top < second.top + second.height && second.top < first.top + first.height;
}
