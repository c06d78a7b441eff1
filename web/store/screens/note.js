// A note: its pictures, its text, who wrote it, the shop, and what others say to it.

import { Refusal, call, get } from "../../core/api.js";
import { setCached, invalidate, staleWhileRevalidate } from "../../core/copies.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/kept.js";
import { t } from "../../core/language.js";
import { back } from "../../core/router.js";
import { cachedMe } from "../../core/session.js";
import { screenHeader } from "../../parts/screen-header.js";
import { iconButton, linkButton } from "../../parts/button.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { confirmAction } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { wantsLogIn } from "../entry.js";
import { article } from "../notes/article.js";
import { comments } from "../notes/comments.js";
import { report } from "../notes/report.js";

/** @typedef {import("../cards/note.js").Note} Note */

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  const id = Number(params.id);
  title(t("笔记", "Note"));
  const top = h("div", null, screenHeader(t("笔记", "Note"), { home: "/notes" }));
  const place = h("div", { class: "note" }, h("div", { class: "note-pictures" }, skeletons(1, "17rem")), h("div", { class: "stack" }, skeletons(3, "3rem")));
  root.append(top, place);
  /** @type {ReturnType<typeof article> | undefined} */
  let drawn;
  /** @type {ReturnType<typeof comments> | undefined} */
  let said;
  await show();

  async function show() {
    try {
      await staleWhileRevalidate(`note ${id}`, () => get(`/blog/${id}`, { signal }), draw);
    } catch (error) {
      if (signal.aborted) return;
      const isGone = error instanceof Refusal && error.code === "NOT_FOUND";
      fill(place, isGone ? emptyState("note", error.message, linkButton(t("看看热门笔记", "See popular notes"), "#/notes")) : errorState(error, show));
    }
  }

  /** @param {Note} note */
  function draw(note) {
    if (drawn) {
      drawn.renew(note);
      said?.renew(note);
      return;
    }
    title(note.title);
    drawn = article(note, signal);
    said = comments(note, signal);
    fill(top, screenHeader(t("笔记", "Note"), { home: "/notes", actions: isKiosk ? [] : [action(note, signal)] }));
    fill(place, drawn.pictures, h("div", { class: "note-side" }, drawn.text, said.root));
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
    const isSure = await confirmAction(t("删除这篇笔记？", "Delete this note?"),
      t("它和它的评论、赞都会消失，不能恢复。", "It goes with its comments and likes, and does not come back."), t("删除", "Delete"), { danger: true });
    if (!isSure) return;
    try {
      await call("DELETE", `/blog/${note.id}`);
    } catch (error) {
      if (!wantsLogIn(error)) throw error;
      return;
    }
    invalidate("notes");
    invalidate("home notes");
    setCached(`note ${note.id}`, undefined);
    showToast(t("已删除", "Deleted"));
    if (!signal.aborted) back("/notes");
  });
}
