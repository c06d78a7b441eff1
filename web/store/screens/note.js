// A note: its pictures, its text, who wrote it, the shop, and what others say to it.

import { Refusal, call, get } from "../../core/api.js";
import { copyTo, forget, shown } from "../../core/copies.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/kept.js";
import { both } from "../../core/language.js";
import { back } from "../../core/router.js";
import { knownMe } from "../../core/session.js";
import { head } from "../../parts/head.js";
import { iconButton, linkButton } from "../../parts/button.js";
import { empty, failure } from "../../parts/empty.js";
import { confirmed } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { say } from "../../parts/toast.js";
import { wantsLogIn } from "../entry.js";
import { article } from "../notes/article.js";
import { comments } from "../notes/comments.js";
import { report } from "../notes/report.js";

/** @typedef {import("../cards/note.js").Note} Note */

/** @param {import("../../core/router.js").Showing} showing */
export async function open({ root, at, signal, title, settled }) {
  const id = Number(at.id);
  title(both("笔记", "Note"));
  const top = h("div", null, head(both("笔记", "Note"), { home: "/notes" }));
  const place = h("div", { class: "note" }, h("div", { class: "note-pictures" }, skeletons(1, "17rem")), h("div", { class: "stack" }, skeletons(3, "3rem")));
  root.append(top, place);
  /** @type {ReturnType<typeof article> | undefined} */
  let drawn;
  /** @type {ReturnType<typeof comments> | undefined} */
  let said;
  await show();

  async function show() {
    try {
      await shown(`note ${id}`, () => get(`/blog/${id}`, { signal }), draw);
    } catch (error) {
      if (signal.aborted) return;
      const isGone = error instanceof Refusal && error.code === "NOT_FOUND";
      fill(place, isGone ? empty("note", error.message, linkButton(both("看看热门笔记", "See popular notes"), "#/notes")) : failure(error, show));
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
    fill(top, head(both("笔记", "Note"), { home: "/notes", actions: isKiosk ? [] : [action(note, signal)] }));
    fill(place, drawn.pictures, h("div", { class: "note-side" }, drawn.text, said.root));
    settled();
  }
}

/**
 * @param {Note} note
 * @param {AbortSignal} signal
 */
function action(note, signal) {
  if (knownMe()?.id !== note.userId) return iconButton("flag", both("举报这篇笔记", "Report this note"), () => report("note", note.id));
  return iconButton("trash", both("删除这篇笔记", "Delete this note"), async () => {
    const isSure = await confirmed(both("删除这篇笔记？", "Delete this note?"),
      both("它和它的评论、赞都会消失，不能恢复。", "It goes with its comments and likes, and does not come back."), both("删除", "Delete"), { danger: true });
    if (!isSure) return;
    try {
      await call("DELETE", `/blog/${note.id}`);
    } catch (error) {
      if (!wantsLogIn(error)) throw error;
      return;
    }
    forget("notes");
    forget("home notes");
    copyTo(`note ${note.id}`, undefined);
    say(both("已删除", "Deleted"));
    if (!signal.aborted) back("/notes");
  });
}
