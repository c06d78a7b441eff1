// Publishing a note once, however often it is tried.

import { call, get } from "../../core/api.js";
import { isInDoubt, waitUntilDecided } from "../../core/doubt.js";
import { textLines } from "../cards/note.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("../cards/note.js").Note} Note */

/**
 * Publishes it, unless a try whose answer was lost has done so already.
 * @param {Draft} draft its `after` is set while nobody knows whether it is published
 * @param {string[]} images
 * @param {() => void} keep puts the draft away as it is
 * @returns {Promise<number>} the note's id
 */
export async function publish(draft, images, keep) {
  const there = await published(draft, images);
  if (there !== undefined) return there;
  draft.after = Math.max(0, ...(await newest()).map(({ id }) => id));
  keep();
  const body = { shopId: draft.shop?.id, title: draft.title.trim(), content: contentOf(draft.text), images: images.join(",") };
  try {
    return (await call("POST", "/blog", { body })).data;
  } catch (error) {
    if (isInDoubt(error)) await waitUntilDecided();
    else {
      draft.after = undefined;
      keep();
    }
    throw error;
  }
}

/**
 * The note that a lost try has made, if it has.
 * @param {Draft} draft
 * @param {string[]} images
 * @returns {Promise<number | undefined>}
 */
export async function published(draft, images) {
  const { after } = draft;
  if (after === undefined) return undefined;
  const said = textLines(contentOf(draft.text)).join("\n");
  const isIt = (/** @type {Note} */ note) => note.id > after && note.images === images.join(",")
    && (note.title === draft.title.trim() || textLines(note.content).join("\n") === said);
  return (await newest()).find(isIt)?.id;
}

/** @returns {Promise<Note[]>} one's own */
async function newest() {
  return (await get("/blog/of/me", { query: { current: 1 } })) ?? [];
}

/**
 * As the mall has it: line ends are markup.
 * @param {string} text
 */
export function contentOf(text) {
  return text.trim().replace(/\r?\n/g, "<br/>");
}
