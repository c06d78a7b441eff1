// A comment, and what is answered to it.

import { call, get, hasToken } from "../../core/api.js";
import { invalidate } from "../../core/copies.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { me } from "../../core/session.js";
import { whileBusy } from "../../parts/button.js";
import { confirmAction } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { toLogIn, wantsLogIn } from "../entry.js";
import { comment, fresh } from "./comment.js";
import { commentForm } from "./comment-form.js";

/** @typedef {import("./comments.js").Comment} Comment */
/** @typedef {import("./comments.js").Thread} Thread */

/**
 * @typedef {object} Around
 * @property {import("../cards/note.js").Note} note
 * @property {AbortSignal} signal
 * @property {(more: number) => void} counted so many comments came, or went
 * @property {() => void} drop nothing of it is left
 */

const PAGE = 10;

/**
 * @param {Thread} first
 * @param {Around} around
 */
export function thread(first, around) {
  const { note, signal, counted, drop } = around;
  let { answers, answerCount } = first;
  /** The page of answers that comes next: those that came with the comment are the beginning of the first. */
  let next = 1;
  const rows = h("ul", { class: "answers" });
  const more = h("button", { type: "button", class: "button bare small", onclick: () => whileBusy(more, showMore) });
  const form = h("div", null);
  const top = h("div", null);
  const root = h("div", { class: "thread", tabindex: -1 }, top, h("div", { class: "thread-answers" }, rows, more, form));
  draw();
  return root;

  function draw() {
    const held = document.activeElement;
    const had = root.contains(held);
    fill(top, comment(first, { note, answer: () => answer(first), remove: () => remove(first) }));
    fill(rows, answers.map((one) => h("li", null, comment(one, { note, answer: () => answer(one), remove: () => remove(one) }))));
    const left = answerCount - answers.length;
    more.hidden = left <= 0;
    more.textContent = t(`还有 ${left} 条回复`, `${left} more ${left === 1 ? "answer" : "answers"}`);
    // What had the focus is not there any more.
    if (had && (!held?.isConnected || (held === more && more.hidden))) root.focus({ preventScroll: true });
  }

  async function showMore() {
    /** @type {Comment[]} */
    const page = (await get(`/blog-comments/answers/${first.id}`, { query: { current: next }, signal })) ?? [];
    next += 1;
    const known = new Set(answers.map(({ id }) => id));
    // One's own may have come before those that were there earlier.
    answers = [...answers, ...page.filter(({ id }) => !known.has(id))].sort((a, b) => a.id - b.id);
    if (page.length < PAGE) answerCount = answers.length;
    draw();
  }

  /** @param {Comment} to */
  function answer(to) {
    if (!hasToken()) {
      toLogIn();
      return;
    }
    const made = commentForm({
      to: `comment ${to.id}`, label: t(`回复 ${to.name}`, `Answer ${to.name}`),
      known: () => answers.map(({ id }) => id),
      send: async (content) => (await call("POST", "/blog-comments", { body: { blogId: note.id, answerId: to.id, content } })).data,
      newest: async () => {
        const last = Math.max(1, Math.ceil(answerCount / PAGE));
        // Where that one is full, it may be the first of the next.
        const pages = answerCount % PAGE === 0 ? [last, last + 1] : [last];
        return (await Promise.all(pages.map((current) => get(`/blog-comments/answers/${first.id}`, { query: { current } })))).flatMap((page) => page ?? []);
      },
      sent: async (content, id) => {
        const author = await me();
        if (!author || signal.aborted) return;
        showToast(t("回复好了", "Your answer is there"));
        const had = form.contains(document.activeElement);
        fill(form);
        // It may have been read meanwhile.
        if (!answers.some((one) => one.id === id)) {
          answers = [...answers, { ...fresh(id, author, content), answerName: to === first ? undefined : to.name }];
          answerCount += 1;
          counted(1);
        }
        invalidate(`comments ${note.id}`);
        draw();
        if (had) root.focus({ preventScroll: true });
      },
    });
    fill(form, made.root);
    made.input.focus();
  }

  /** @param {Comment} which */
  async function remove(which) {
    const isSure = await confirmAction(t("删除这条评论？", "Delete this comment?"), t("删除后不能恢复。", "It does not come back."), t("删除", "Delete"), { danger: true });
    if (!isSure) return;
    try {
      await call("DELETE", `/blog-comments/${which.id}`);
    } catch (error) {
      if (!wantsLogIn(error)) throw error;
      return;
    }
    showToast(t("已删除", "Deleted"));
    counted(-1);
    invalidate(`comments ${note.id}`);
    if (which !== first) {
      answers = answers.filter((one) => one !== which);
      answerCount -= 1;
    } else if (answerCount > 0) first = { ...first, isRemoved: true };
    else {
      drop();
      return;
    }
    draw();
  }
}
