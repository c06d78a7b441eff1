// A note in a list: its first picture, its title, who wrote it.

import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { avatar } from "../../parts/avatar.js";
import { icon } from "../../parts/icons.js";
import { firstOf, picture } from "../../parts/picture.js";

/**
 * @typedef {object} Note
 * @property {number} id
 * @property {number} shopId
 * @property {number} userId the author
 * @property {string} name the author's
 * @property {string} icon the author's
 * @property {string} title
 * @property {string} content cleaned by the mall: text with `<br>` and `<p>`
 * @property {string} images between commas
 * @property {number} liked
 * @property {number} comments
 * @property {boolean} isLike whether the reader likes it
 * @property {string} createTime
 */

/** @param {Note} note */
export function noteCard(note) {
  return h("a", { class: "card note-card", href: `#/note/${note.id}` },
    h("span", { class: "note-card-picture" }, picture(firstOf(note.images))),
    h("span", { class: "stack tight pad" },
      h("h3", { class: "lines-2" }, note.title),
      h("span", { class: "row apart small quiet" },
        h("span", { class: "row tight grow" }, avatar(note), h("span", { class: "cut" }, note.name)),
        h("span", { class: "row tight number" }, icon("heart", { full: note.isLike }),
          h("span", null, h("span", { class: "unseen" }, both("赞 ", "likes ")), note.liked)))));
}
