// The comments of a note.

import { call, get, hasToken, read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { me } from "../../core/session.js";
import { emptyState } from "../../parts/empty-state.js";
import { infiniteList } from "../../parts/infinite-list.js";
import { showToast } from "../../parts/toast.js";
import { newComment } from "./comment.js";
import { commentForm, logInToComment } from "./comment-form.js";
import { thread } from "./thread.js";

/**
 * @typedef {object} Comment
 * @property {number} id
 * @property {number} userId
 * @property {string} name
 * @property {string} icon
 * @property {string} content
 * @property {number} liked
 * @property {boolean} isLike
 * @property {boolean} isRemoved removed; only a placeholder remains
 * @property {string} [answerName] name of the addressed user, in a reply to a reply
 * @property {string} createTime empty for a comment just sent
 */

/** @typedef {Comment & {answers: Comment[], answerCount: number}} Thread */

const PAGE_SIZE = 10;

/**
 * @param {import("../cards/note.js").Note} note
 * @param {AbortSignal} signal
 * @returns {{root: HTMLElement, renew: (fresh: {comments: number}) => void}} `renew`: updates the number of
 * comments
 */
export function comments(note, signal) {
  const count = h("span", { class: "number" }, note.comments || "");
  let total = note.comments;
  const path = `/blog-comments/of/blog/${note.id}`;
  const list = infiniteList({
    name: `comments ${note.id}`, signal, look: "comments", height: "5rem",
    load: async (current = 1) => {
      const response = await read(path, { query: { current }, signal });
      /** @type {Thread[]} */
      const items = response.data ?? [];
      return { items, next: items.length < PAGE_SIZE ? undefined : current + 1 };
    },
    draw: (/** @type {Thread} */ item) => thread(item, { note, signal, counted: addToCount, drop: () => list.drop(item.id) }),
    key: (one) => one.id,
    none: () => emptyState("comment", t("还没有评论，来说第一句吧。", "No comments yet. Be the first to comment.")),
  });
  const form = () => commentForm({
    to: `note ${note.id}`, label: t("说点什么…", "Say something…"),
    known: () => list.keys(),
    send: async (content) => (await call("POST", "/blog-comments", { body: { blogId: note.id, content } })).data,
    newest: async () => (await get(path, { query: { current: 1 } })) ?? [],
    sent: async (content, id) => {
      const author = await me();
      if (!author || signal.aborted) return;
      showToast(t("评论成功", "Comment posted"));
      // The list may have loaded the comment meanwhile.
      if (list.keys().includes(id)) return;
      list.add({ ...newComment(id, author, content), answers: [], answerCount: 0 });
      addToCount(1);
    },
  }).root;
  const root = h("section", { class: "stack", "aria-label": t("评论", "Comments") },
    h("div", { class: "head" }, h("h2", null, t("评论 ", "Comments "), count)),
    !isKiosk && (hasToken() ? form() : logInToComment()), list.root);
  return {
    root,
    /** @param {{comments: number}} fresh */
    renew: (fresh) => {
      total = fresh.comments;
      addToCount(0);
    },
  };

  /** @param {number} difference */
  function addToCount(difference) {
    total = Math.max(0, total + difference);
    count.textContent = total ? String(total) : "";
  }
}
