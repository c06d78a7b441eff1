// Drafts of reviews and of edits, stored in the browser per user and order, or review, until posted.

import { deleteBlob } from "../../core/blob-store.js";
import { saveLocal, loadLocal } from "../../core/local-storage.js";
import { newRequestId } from "../../core/request-id.js";

/**
 * @typedef {object} ReviewDraft
 * @property {string} requestId by which the server recognizes a repeated post
 * @property {number} halfStars 2 to 10; 0: not chosen yet
 * @property {string} text
 * @property {string} price in yuan, as typed
 * @property {import("./tags.js").Tag[]} tags
 * @property {import("../writing/draft.js").DraftPicture[]} pictures
 * @property {object} [sent] body of a post in doubt: repeated unchanged until the outcome is known
 * @property {string} [basedOn] of an edit: time of the review's last change before
 */

/** @returns {ReviewDraft} */
export function emptyDraft() {
  return { requestId: newRequestId(), halfStars: 0, text: "", price: "", tags: [], pictures: [] };
}

/** @param {ReviewDraft} draft */
export function isEmpty({ halfStars, text, price, tags, pictures }) {
  return halfStars === 0 && !text.trim() && !price.trim() && tags.length === 0 && pictures.length === 0;
}

/**
 * @param {number} user
 * @param {string} of the order, or `edit-` and the review
 * @returns {ReviewDraft}
 */
export function loadDraft(user, of) {
  return { ...emptyDraft(), ...JSON.parse(loadLocal(storageKey(user, of)) ?? "{}") };
}

/**
 * @param {number} user
 * @param {string} of
 * @param {ReviewDraft} draft
 */
export function saveDraft(user, of, draft) {
  saveLocal(storageKey(user, of), JSON.stringify(draft));
}

/**
 * @param {number} user
 * @param {string} of
 * @param {ReviewDraft} draft
 */
export function deleteDraft(user, of, draft) {
  saveLocal(storageKey(user, of), null);
  for (const { key } of draft.pictures) deleteBlob(key);
}

/**
 * @param {number} user
 * @param {string} of
 */
function storageKey(user, of) {
  return `review-draft-${user}-${of}`;
}
