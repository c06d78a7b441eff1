// What the reader liked since lists of notes were read: a list that is shown again shows it too.

import { onToken } from "../../core/api.js";

/** @typedef {import("../cards/note.js").Note} Note */

/** @type {Map<number, boolean>} by the note's id */
const mine = new Map();
onToken(() => mine.clear());

/**
 * @param {number} id the note's
 * @param {boolean} isLike
 */
export function liked(id, isLike) {
  mine.set(id, isLike);
}

/**
 * @param {Note} note as it was read
 * @returns {Note} as the reader left it
 */
export function withMyLike(note) {
  const isLike = mine.get(note.id) ?? note.isLike;
  if (isLike === note.isLike) return note;
  return { ...note, isLike, liked: Math.max(0, note.liked + (isLike ? 1 : -1)) };
}
