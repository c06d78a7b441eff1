// Drafts of reviews, stored in the browser per user and order until posted.

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
 */

/** @returns {ReviewDraft} */
export function emptyDraft() {
  return { requestId: newRequestId(), halfStars: 0, text: "", price: "", tags: [], pictures: [] };
}

/**
 * @param {number} user
 * @param {string} order
 * @returns {ReviewDraft}
 */
export function loadDraft(user, order) {
  return { ...emptyDraft(), ...JSON.parse(loadLocal(storageKey(user, order)) ?? "{}") };
}

/**
 * @param {number} user
 * @param {string} order
 * @param {ReviewDraft} draft
 */
export function saveDraft(user, order, draft) {
  saveLocal(storageKey(user, order), JSON.stringify(draft));
}

/**
 * @param {number} user
 * @param {string} order
 * @param {ReviewDraft} draft
 */
export function deleteDraft(user, order, draft) {
  saveLocal(storageKey(user, order), null);
  for (const { key } of draft.pictures) deleteBlob(key);
}

/**
 * @param {number} user
 * @param {string} order
 */
function storageKey(user, order) {
  return `review-draft-${user}-${order}`;
}
