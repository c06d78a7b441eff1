// Likes given since lists of notes were loaded, so that cached lists show them.

import { onToken } from "../../core/api.js";

/** @typedef {import("../cards/note.js").Note} Note */

/** @type {Map<number, boolean>} by note id */
const likes = new Map();
onToken(() => likes.clear());

/**
 * @param {number} id the note's id
 * @param {boolean} isLike
 */
export function recordLike(id, isLike) {
  likes.set(id, isLike);
}

/**
 * @param {Note} note the loaded note
 * @returns {Note} the note with the user's latest like
 */
export function withLocalLike(note) {
  const isLike = likes.get(note.id) ?? note.isLike;
  if (isLike === note.isLike) return note;
  return { ...note, isLike, liked: Math.max(0, note.liked + (isLike ? 1 : -1)) };
}
