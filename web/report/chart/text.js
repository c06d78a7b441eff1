// Text in drawings, where nothing wraps by itself.

/** Estimated widths in px at the charts' font size of 12 px. */
const [LETTER_PX, HAN_PX] = [6.7, 12];
/** Line height in px. */
export const LINE_PX = 16;

/** @param {string} text */
export function textWidth(text) {
  return [...text].reduce((sum, letter) => sum + letterWidth(letter), 0);
}

/**
 * Breaks a text into lines: at spaces, between Chinese characters, and within words that are wider than a
 * line.
 * @param {string} text
 * @param {number} width in px
 * @returns {string[]}
 */
export function wrap(text, width) {
  const lines = [""];
  for (const piece of text.match(/[\u2e80-\uffff]|[^\s\u2e80-\uffff]+|\s+/gu) ?? []) {
    if (textWidth(lines[lines.length - 1] + piece.trimEnd()) > width && lines[lines.length - 1] !== "") lines.push("");
    for (const letter of textWidth(piece) > width ? piece : [piece]) {
      if (textWidth(lines[lines.length - 1] + letter.trimEnd()) > width) lines.push("");
      lines[lines.length - 1] += lines[lines.length - 1] === "" ? letter.trimStart() : letter;
    }
  }
  return lines.filter((line) => line !== "");
}

/** @param {string} letter */
function letterWidth(letter) {
  return letter >= "\u2e80" ? HAN_PX : LETTER_PX;
}
