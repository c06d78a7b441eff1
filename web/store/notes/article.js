// The body of a note: pictures, text, author, shop and likes.

import { callWithRetries, get } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { avatar } from "../../parts/avatar.js";
import { gallery } from "../../parts/gallery.js";
import { icon } from "../../parts/icons.js";
import { pictureList } from "../../parts/picture.js";
import { skeletons } from "../../parts/skeleton.js";
import { dateTime } from "../../parts/date-time.js";
import { textLines } from "../cards/note.js";
import { shopCard } from "../cards/shop.js";
import { followButton } from "../people/follow-button.js";
import { likeButton } from "./like-button.js";
import { recordLike, withLocalLike } from "./local-likes.js";

/** @typedef {import("../cards/note.js").Note} Note */

/**
 * @param {Note} note
 * @param {AbortSignal} signal
 * @returns {{pictures: Node | null, text: Node, renew: (note: Note) => void}} `renew`: shows a reloaded note
 */
export function article(note, signal) {
  const images = pictureList(note.images);
  const heading = h("h2", { class: "note-title" });
  const paragraphs = h("div", { class: "note-text" });
  const likers = h("div", { class: "likers" });
  const like = likeButton({
    what: t("这篇笔记", "this note"), likes: withLocalLike(note),
    save: async (isLike) => {
      await callWithRetries("PUT", `/blog/like/${note.id}`, { query: { like: String(isLike) } });
      showLikers();
    },
    look: () => get(`/blog/${note.id}`),
    changed: (isLike) => recordLike(note.id, isLike),
  });
  write(note);
  showLikers();
  return {
    pictures: images.length > 0 ? h("div", { class: "note-pictures" }, gallery(images, t(`笔记《${note.title}》的图片`, `Pictures of “${note.title}”`))) : null,
    text: h("article", { class: "stack" },
      h("div", { class: "row" },
        h("a", { class: "row grow author", href: `#/person/${note.userId}` }, avatar(note),
          h("span", { class: "grow" }, h("strong", { class: "cut" }, note.name), h("span", { class: "small quiet" }, dateTime(note.createTime)))),
        followButton({ id: note.userId, name: note.name }, signal)),
      heading, paragraphs,
      note.shopId > 0 && shopPlace(note.shopId, signal),
      h("div", { class: "row note-likes" }, like.root, likers)),
    renew: (fresh) => {
      write(fresh);
      like.set(fresh);
    },
  };

  /** @param {Note} current */
  function write(current) {
    heading.textContent = current.title;
    fill(paragraphs, textLines(current.content).map((line) => h("p", null, line)));
  }

  async function showLikers() {
    /** @type {import("../../core/session.js").Person[]} */
    const likingUsers = await get(`/blog/likes/${note.id}`, { signal }).catch(() => []);
    fill(likers, likingUsers.map((person) =>
      h("a", { href: `#/person/${person.id}`, "aria-label": t(`${person.nickName} 赞过`, `${person.nickName} liked this`), title: person.nickName }, avatar(person))));
  }
}

/**
 * @param {number} id
 * @param {AbortSignal} signal
 */
function shopPlace(id, signal) {
  const place = h("div", { class: "note-shop" }, skeletons(1, "6.6rem"));
  staleWhileRevalidate(`shop ${id}`, () => get(`/shop/${id}`, { signal }), (/** @type {import("../cards/shop.js").Shop} */ found) => {
    fill(place, found && shopCard(found));
  }).catch(() => {
    if (!signal.aborted) fill(place, h("p", { class: "row small quiet" }, icon("shop"), t("店铺信息暂时看不到。", "The shop is unavailable right now.")));
  });
  return place;
}
