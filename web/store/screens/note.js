// A note with its shop and comments.

import { Refusal, call, get } from "../../core/api.js";
import { setCached, invalidate, staleWhileRevalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { back } from "../../core/router.js";
import { cachedMe } from "../../core/session.js";
import { screenHeader } from "../../parts/screen-header.js";
import { iconButton, linkButton } from "../../parts/button.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { confirmAction } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { redirectIfUnauthorized } from "../login-guard.js";
import { article } from "../notes/article.js";
import { comments } from "../notes/comments.js";
import { report } from "../notes/report.js";

/** @typedef {import("../cards/note.js").Note} Note */

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  const id = Number(params.id);
  title(t("笔记", "Note"));
  const header = h("div", null, screenHeader(t("笔记", "Note"), { home: "/notes" }));
  const contentPlace = h("div", { class: "note" }, h("div", { class: "note-pictures" }, skeletons(1, "17rem")), h("div", { class: "stack" }, skeletons(3, "3rem")));
  root.append(header, contentPlace);
  /** @type {ReturnType<typeof article> | undefined} */
  let noteArticle;
  /** @type {ReturnType<typeof comments> | undefined} */
  let commentSection;
  await show();

  async function show() {
    try {
      await staleWhileRevalidate(`note ${id}`, () => get(`/blog/${id}`, { signal }), draw);
    } catch (error) {
      if (signal.aborted) return;
      const isNotFound = error instanceof Refusal && error.code === "NOT_FOUND";
      fill(contentPlace, isNotFound ? emptyState("note", error.message, linkButton(t("看看热门笔记", "Browse popular notes"), "#/notes")) : errorState(error, show));
    }
  }

  /** @param {Note} note */
  function draw(note) {
    if (noteArticle) {
      noteArticle.renew(note);
      commentSection?.renew(note);
      return;
    }
    title(note.title);
    noteArticle = article(note, signal);
    commentSection = comments(note, signal);
    fill(header, screenHeader(t("笔记", "Note"), { home: "/notes", actions: isKiosk ? [] : [action(note, signal)] }));
    fill(contentPlace, noteArticle.pictures, h("div", { class: "note-side" }, noteArticle.text, commentSection.root));
    restoreScroll();
  }
}

/**
 * @param {Note} note
 * @param {AbortSignal} signal
 */
function action(note, signal) {
  if (cachedMe()?.id !== note.userId) return iconButton("flag", t("举报这篇笔记", "Report this note"), () => report("note", note.id));
  return iconButton("trash", t("删除这篇笔记", "Delete this note"), async () => {
    const isConfirmed = await confirmAction(t("删除这篇笔记？", "Delete this note?"),
      t("笔记及其评论和赞将被删除，无法恢复。", "The note, its comments and its likes are deleted permanently."), t("删除", "Delete"), { danger: true });
    if (!isConfirmed) return;
    try {
      await call("DELETE", `/blog/${note.id}`);
    } catch (error) {
      if (!redirectIfUnauthorized(error)) throw error;
      return;
    }
    invalidate("notes");
    invalidate("home notes");
    setCached(`note ${note.id}`, undefined);
    showToast(t("已删除", "Deleted"));
    if (!signal.aborted) back("/notes");
  });
}
