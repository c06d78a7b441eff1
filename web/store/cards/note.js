// A note in a list: its first picture, its title, who wrote it.

import { setCached } from "../../core/copies.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { avatar } from "../../parts/avatar.js";
import { icon } from "../../parts/icons.js";
import { firstPicture, picture } from "../../parts/picture.js";
import { withMyLike } from "../notes/my-likes.js";

/**
 * @typedef {object} Note
 * @property {number} id
 * @property {number} shopId
 * @property {number} userId the author
 * @property {string} name the author's
 * @property {string} icon the author's
 * @property {string} title
 * @property {string} content as it was written: text, in which `<br>` and `<p>` are line breaks
 * @property {string} images between commas
 * @property {number} liked
 * @property {number} comments
 * @property {boolean} isLike whether the reader likes it
 * @property {string} createTime
 */

/** @param {Note} read */
export function noteCard(read) {
  const note = withMyLike(read);
  const first = firstPicture(note.images);
  // Its screen has something to show at once.
  const keepCopy = () => setCached(`note ${note.id}`, note);
  return h("a", { class: "card note-card", href: `#/note/${note.id}`, onclick: keepCopy },
    h("span", { class: "note-card-picture" },
      first ? picture(first) : h("span", { class: "note-card-words", "aria-hidden": "true" }, lines(note.content).join(" "))),
    h("span", { class: "stack tight pad" },
      h("h3", { class: "lines-2" }, note.title),
      h("span", { class: "row apart small quiet" },
        h("span", { class: "row tight grow" }, avatar(note), h("span", { class: "cut" }, note.name)),
        h("span", { class: note.isLike ? "row tight number is-liked" : "row tight number" }, icon("heart", { full: note.isLike }),
          h("span", null, h("span", { class: "unseen" }, t("赞 ", "likes ")), note.liked)))));
}

/**
 * The text of a note, line by line: `<br>` and `<p>` are line breaks, and everything else is text.
 * @param {string} content
 * @returns {string[]}
 */
export function lines(content) {
  return content.split(/<\/?(?:br|p)(?:[\s/][^<>]*)?>|\n/i).map((line) => line.trim()).filter(Boolean);
}
