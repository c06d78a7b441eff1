// A card of a note: first picture, title, author, likes.

import { setCached } from "../../core/cache.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { avatar } from "../../parts/avatar.js";
import { icon } from "../../parts/icons.js";
import { firstPicture, picture } from "../../parts/picture.js";
import { withLocalLike } from "../notes/local-likes.js";

/**
 * @typedef {object} Note
 * @property {number} id
 * @property {number} shopId
 * @property {number} userId the author
 * @property {string} name the author's name
 * @property {string} icon the author's picture
 * @property {string} title
 * @property {string} content text with `<br>` and `<p>` as line breaks
 * @property {string} images comma-separated
 * @property {number} liked
 * @property {number} comments
 * @property {boolean} isLike whether the current user likes the note
 * @property {string} createTime
 */

/** @param {Note} loadedNote */
export function noteCard(loadedNote) {
  const note = withLocalLike(loadedNote);
  const first = firstPicture(note.images);
  // The note's screen shows the cached note at once.
  const cacheNote = () => setCached(`note ${note.id}`, note);
  return h("a", { class: "card note-card", href: `#/note/${note.id}`, onclick: cacheNote },
    h("span", { class: "note-card-picture" },
      first ? picture(first) : h("span", { class: "note-card-words", "aria-hidden": "true" }, textLines(note.content).join(" "))),
    h("span", { class: "stack tight pad" },
      h("h3", { class: "lines-2" }, note.title),
      h("span", { class: "row apart small quiet" },
        h("span", { class: "row tight grow" }, avatar(note), h("span", { class: "cut" }, note.name)),
        h("span", { class: note.isLike ? "row tight number is-liked" : "row tight number" }, icon("heart", { full: note.isLike }),
          h("span", null, h("span", { class: "unseen" }, t("赞 ", "likes ")), note.liked)))));
}

/**
 * Splits a note into lines at `<br>`, `<p>` and line feeds; other markup stays text.
 * @param {string} content
 * @returns {string[]}
 */
export function textLines(content) {
  return content.split(/<\/?(?:br|p)(?:[\s/][^<>]*)?>|\n/i).map((line) => line.trim()).filter(Boolean);
}
