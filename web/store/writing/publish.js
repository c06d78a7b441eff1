// Publication of a note, at most once.

import { call, get } from "../../core/api.js";
import { isInDoubt, waitUntilDecided } from "../../core/in-doubt.js";
import { textLines } from "../cards/note.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("../cards/note.js").Note} Note */

/**
 * Publishes the draft, unless an earlier attempt in doubt already did.
 * @param {Draft} draft `after` is set while the publication is in doubt
 * @param {string[]} images
 * @param {() => void} saveDraft saves the draft
 * @returns {Promise<number>} the note's id
 */
export async function publish(draft, images, saveDraft) {
  const existing = await findPublished(draft, images);
  if (existing !== undefined) return existing;
  draft.after = Math.max(0, ...(await ownNotes()).map(({ id }) => id));
  saveDraft();
  const body = { shopId: draft.shop?.id, title: draft.title.trim(), content: contentOf(draft.text), images: images.join(",") };
  try {
    return (await call("POST", "/blog", { body })).data;
  } catch (error) {
    if (isInDoubt(error)) await waitUntilDecided();
    else {
      draft.after = undefined;
      saveDraft();
    }
    throw error;
  }
}

/**
 * Returns the note created by an attempt in doubt, if any.
 * @param {Draft} draft
 * @param {string[]} images
 * @returns {Promise<number | undefined>}
 */
export async function findPublished(draft, images) {
  const { after } = draft;
  if (after === undefined) return undefined;
  const text = textLines(contentOf(draft.text)).join("\n");
  const isMatch = (/** @type {Note} */ note) => note.id > after && note.images === images.join(",")
    && (note.title === draft.title.trim() || textLines(note.content).join("\n") === text);
  return (await ownNotes()).find(isMatch)?.id;
}

/** @returns {Promise<Note[]>} the user's own notes */
async function ownNotes() {
  return (await get("/blog/of/me", { query: { current: 1 } })) ?? [];
}

/**
 * Converts line breaks into markup, as the server stores texts.
 * @param {string} text
 */
export function contentOf(text) {
  return text.trim().replace(/\r?\n/g, "<br/>");
}
