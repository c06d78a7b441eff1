// Drafts of notes, stored in the browser per user until published.

import { deleteBlob } from "../../core/blob-store.js";
import { saveLocal, loadLocal } from "../../core/local-storage.js";

/**
 * @typedef {object} DraftPicture
 * @property {string} key in the blob store
 * @property {string} [path] path on the server, once uploaded
 * @property {number} [since] upload time; the server deletes pictures without a note
 */

/**
 * @typedef {object} Draft
 * @property {string} title
 * @property {string} text
 * @property {{id: number, name: string} | null} shop
 * @property {DraftPicture[]} pictures
 * @property {number} [after] set while a publication is in doubt: a published note has a higher id
 */

/** Maximum pictures of a note. */
export const MAX_PICTURES = 9;

/**
 * @param {number} user
 * @returns {Draft}
 */
export function loadDraft(user) {
  /** @type {Draft} */
  const emptyDraft = { title: "", text: "", shop: null, pictures: [] };
  return { ...emptyDraft, ...JSON.parse(loadLocal(storageKey(user)) ?? "{}") };
}

/**
 * @param {number} user
 * @param {Draft} draft
 */
export function saveDraft(user, draft) {
  saveLocal(storageKey(user), JSON.stringify(draft));
}

/**
 * @param {number} user
 * @param {Draft} draft
 */
export function deleteDraft(user, draft) {
  saveLocal(storageKey(user), null);
  for (const { key } of draft.pictures) deleteBlob(key);
}

/** @param {Draft} draft */
export function isEmpty({ title, text, pictures }) {
  return !title.trim() && !text.trim() && pictures.length === 0;
}

/** @param {number} user */
function storageKey(user) {
  return `draft-${user}`;
}
