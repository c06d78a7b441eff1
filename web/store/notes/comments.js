// What is said to a note.

import { call, get, hasToken, read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { isKiosk } from "../../core/kept.js";
import { t } from "../../core/language.js";
import { me } from "../../core/session.js";
import { emptyState } from "../../parts/empty-state.js";
import { infiniteList } from "../../parts/infinite-list.js";
import { showToast } from "../../parts/toast.js";
import { fresh } from "./comment.js";
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
 * @property {boolean} isRemoved only its place is left
 * @property {string} [answerName] whom it answers, if another answer
 * @property {string} createTime empty for what was just written
 */

/** @typedef {Comment & {answers: Comment[], answerCount: number}} Thread */

const PAGE = 10;

/**
 * @param {import("../cards/note.js").Note} note
 * @param {AbortSignal} signal
 * @returns {{root: HTMLElement, renew: (fresh: {comments: number}) => void}} `renew`: when it is known how many there are now
 */
export function comments(note, signal) {
  const count = h("span", { class: "number" }, note.comments || "");
  let total = note.comments;
  const path = `/blog-comments/of/blog/${note.id}`;
  const list = infiniteList({
    name: `comments ${note.id}`, signal, look: "comments", height: "5rem",
    load: async (current = 1) => {
      const answer = await read(path, { query: { current }, signal });
      /** @type {Thread[]} */
      const items = answer.data ?? [];
      return { items, next: items.length < PAGE ? undefined : current + 1 };
    },
    draw: (/** @type {Thread} */ one) => thread(one, { note, signal, counted, drop: () => list.drop(one.id) }),
    key: (one) => one.id,
    none: () => emptyState("comment", t("还没有评论，来说第一句吧。", "No comments yet; say the first word.")),
  });
  const form = () => commentForm({
    to: `note ${note.id}`, label: t("说点什么…", "Say something…"),
    known: () => list.keys(),
    send: async (content) => (await call("POST", "/blog-comments", { body: { blogId: note.id, content } })).data,
    newest: async () => (await get(path, { query: { current: 1 } })) ?? [],
    sent: async (content, id) => {
      const author = await me();
      if (!author || signal.aborted) return;
      showToast(t("评论好了", "Your comment is there"));
      // It may have been read meanwhile.
      if (list.keys().includes(id)) return;
      list.add({ ...fresh(id, author, content), answers: [], answerCount: 0 });
      counted(1);
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
      counted(0);
    },
  };

  /** @param {number} more */
  function counted(more) {
    total = Math.max(0, total + more);
    count.textContent = total ? String(total) : "";
  }
}
