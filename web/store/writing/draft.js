// A note that is not published yet: kept in the browser until the mall has it, for each person of their own.

import { deleteBlob } from "../../core/drawer.js";
import { saveLocal, loadLocal } from "../../core/kept.js";

/**
 * @typedef {object} DraftPicture
 * @property {string} key under which it is put away
 * @property {string} [path] where the mall has it
 * @property {number} [since] when it was uploaded: what no note shows is not kept for ever
 */

/**
 * @typedef {object} Draft
 * @property {string} title
 * @property {string} text
 * @property {{id: number, name: string} | null} shop
 * @property {DraftPicture[]} pictures
 * @property {number} [after] it was sent and no answer came: if it was published, then as a note with an id above this one
 */

/** As many as a note may have. */
export const PICTURES = 9;

/**
 * @param {number} user
 * @returns {Draft}
 */
export function draftOf(user) {
  /** @type {Draft} */
  const none = { title: "", text: "", shop: null, pictures: [] };
  return { ...none, ...JSON.parse(loadLocal(name(user)) ?? "{}") };
}

/**
 * @param {number} user
 * @param {Draft} draft
 */
export function keepDraft(user, draft) {
  saveLocal(name(user), JSON.stringify(draft));
}

/**
 * @param {number} user
 * @param {Draft} draft
 */
export function dropDraft(user, draft) {
  saveLocal(name(user), null);
  for (const { key } of draft.pictures) deleteBlob(key);
}

/** @param {Draft} draft */
export function isEmpty({ title, text, pictures }) {
  return !title.trim() && !text.trim() && pictures.length === 0;
}

/** @param {number} user */
function name(user) {
  return `draft-${user}`;
}
