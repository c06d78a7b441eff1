// A comment with its replies.

import { call, get, hasToken } from "../../core/api.js";
import { invalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { me } from "../../core/session.js";
import { whileBusy } from "../../parts/button.js";
import { confirmAction } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { goToLogin, redirectIfUnauthorized } from "../login-guard.js";
import { comment, newComment } from "./comment.js";
import { commentForm } from "./comment-form.js";

/** @typedef {import("./comments.js").Comment} Comment */
/** @typedef {import("./comments.js").Thread} Thread */

/**
 * @typedef {object} ThreadContext
 * @property {import("../cards/note.js").Note} note
 * @property {AbortSignal} signal
 * @property {(moreButton: number) => void} counted adds to the number of comments
 * @property {() => void} drop called when the thread is empty
 */

const PAGE_SIZE = 10;

/**
 * @param {Thread} parent
 * @param {ThreadContext} context
 */
export function thread(parent, context) {
  const { note, signal, counted: addToCount, drop: onEmpty } = context;
  let { answers, answerCount } = parent;
  /** Next page of replies. The replies loaded with the comment are the beginning of page 1. */
  let nextPage = 1;
  const rows = h("ul", { class: "answers" });
  const moreButton = h("button", { type: "button", class: "button bare small", onclick: () => whileBusy(moreButton, loadMore) });
  const form = h("div", null);
  const parentPlace = h("div", null);
  const root = h("div", { class: "thread", tabindex: -1 }, parentPlace, h("div", { class: "thread-answers" }, rows, moreButton, form));
  render();
  return root;

  function render() {
    const focused = document.activeElement;
    const hadFocus = root.contains(focused);
    fill(parentPlace, comment(parent, { note, answer: () => reply(parent), remove: () => remove(parent) }));
    fill(rows, answers.map((one) => h("li", null, comment(one, { note, answer: () => reply(one), remove: () => remove(one) }))));
    const remaining = answerCount - answers.length;
    moreButton.hidden = remaining <= 0;
    moreButton.textContent = t(`还有 ${remaining} 条回复`, `${remaining} more ${remaining === 1 ? "reply" : "replies"}`);
    // The focused element is gone.
    if (hadFocus && (!focused?.isConnected || (focused === moreButton && moreButton.hidden))) root.focus({ preventScroll: true });
  }

  async function loadMore() {
    /** @type {Comment[]} */
    const page = (await get(`/blog-comments/answers/${parent.id}`, { query: { current: nextPage }, signal })) ?? [];
    nextPage += 1;
    const known = new Set(answers.map(({ id }) => id));
    // The user's own replies may precede older ones.
    answers = [...answers, ...page.filter(({ id }) => !known.has(id))].sort((a, b) => a.id - b.id);
    if (page.length < PAGE_SIZE) answerCount = answers.length;
    render();
  }

  /** @param {Comment} to */
  function reply(to) {
    if (!hasToken()) {
      goToLogin();
      return;
    }
    const replyForm = commentForm({
      to: `comment ${to.id}`, label: t(`回复 ${to.name}`, `Reply to ${to.name}`),
      known: () => answers.map(({ id }) => id),
      send: async (content) => (await call("POST", "/blog-comments", { body: { blogId: note.id, answerId: to.id, content } })).data,
      newest: async () => {
        const last = Math.max(1, Math.ceil(answerCount / PAGE_SIZE));
        // A full last page may continue on the next.
        const pages = answerCount % PAGE_SIZE === 0 ? [last, last + 1] : [last];
        return (await Promise.all(pages.map((current) => get(`/blog-comments/answers/${parent.id}`, { query: { current } })))).flatMap((page) => page ?? []);
      },
      sent: async (content, id) => {
        const author = await me();
        if (!author || signal.aborted) return;
        showToast(t("回复成功", "Reply posted"));
        const hadFocus = form.contains(document.activeElement);
        fill(form);
        // The list may have loaded the reply meanwhile.
        if (!answers.some((one) => one.id === id)) {
          answers = [...answers, { ...newComment(id, author, content), answerName: to === parent ? undefined : to.name }];
          answerCount += 1;
          addToCount(1);
        }
        invalidate(`comments ${note.id}`);
        render();
        if (hadFocus) root.focus({ preventScroll: true });
      },
    });
    fill(form, replyForm.root);
    replyForm.input.focus();
  }

  /** @param {Comment} target */
  async function remove(target) {
    const isConfirmed = await confirmAction(t("删除这条评论？", "Delete this comment?"), t("删除后无法恢复。", "This cannot be undone."), t("删除", "Delete"), { danger: true });
    if (!isConfirmed) return;
    try {
      await call("DELETE", `/blog-comments/${target.id}`);
    } catch (error) {
      if (!redirectIfUnauthorized(error)) throw error;
      return;
    }
    showToast(t("已删除", "Deleted"));
    addToCount(-1);
    invalidate(`comments ${note.id}`);
    if (target !== parent) {
      answers = answers.filter((one) => one !== target);
      answerCount -= 1;
    } else if (answerCount > 0) parent = { ...parent, isRemoved: true };
    else {
      onEmpty();
      return;
    }
    render();
  }
}
