// A single comment.

import { callWithRetries } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { cachedMe } from "../../core/session.js";
import { avatar } from "../../parts/avatar.js";
import { whileBusy } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { dateTime } from "../../parts/date-time.js";
import { likeButton } from "./like-button.js";
import { report } from "./report.js";

/**
 * @param {import("./comments.js").Comment} data
 * @param {{note: import("../cards/note.js").Note, answer: () => unknown, remove: () => unknown}} options
 */
export function comment(data, { note, answer: onReply, remove: onRemove }) {
  if (data.isRemoved) return h("p", { class: "quiet small comment-gone" }, t("这条评论已删除", "This comment was deleted"));
  const isMine = cachedMe()?.id === data.userId;
  const to = `#/person/${data.userId}`;
  return h("div", { class: "comment" },
    h("a", { href: to, "aria-hidden": "true", tabindex: "-1" }, avatar(data)),
    h("div", { class: "grow" },
      h("div", { class: "row tight wrap small quiet" },
        h("a", { href: to, class: "comment-name" }, data.name),
        data.userId === note.userId && chip(t("作者", "Author"), "accent"),
        data.createTime ? dateTime(data.createTime) : t("刚刚", "just now")),
      h("p", { class: "comment-text" }, data.answerName && h("span", { class: "quiet" }, t(`回复 ${data.answerName}：`, `to ${data.answerName}: `)), data.content),
      !isKiosk && h("div", { class: "row tight comment-acts" },
        commentLikes(data),
        actionButton(t("回复", "Reply"), t(`回复 ${data.name}`, `Reply to ${data.name}`), onReply),
        isMine ? actionButton(t("删除", "Delete"), t("删除我的评论", "Delete my comment"), onRemove)
          : actionButton(t("举报", "Report"), t(`举报 ${data.name} 的评论`, `Report ${data.name}’s comment`), () => report("comment", data.id)))));
}

/** @param {import("./comments.js").Comment} data */
function commentLikes(data) {
  return likeButton({
    what: t(`${data.name}的评论`, `${data.name}’s comment`), likes: data,
    save: (isLike) => callWithRetries("PUT", `/blog-comments/like/${data.id}`, { query: { like: String(isLike) } }),
    // The API has no call for a single comment.
    look: async () => undefined,
    changed: (isLike) => {
      if (data.isLike === isLike) return;
      data.liked += isLike ? 1 : -1;
      data.isLike = isLike;
    },
  }).root;
}

/**
 * @param {string} text
 * @param {string} label
 * @param {() => unknown} action
 */
function actionButton(text, label, action) {
  const made = h("button", { type: "button", class: "button bare", "aria-label": label, onclick: () => whileBusy(made, action) }, text);
  return made;
}

/**
 * Creates the data of a comment that was just sent.
 * @param {number} id
 * @param {import("../../core/session.js").Person} author
 * @param {string} content
 * @returns {import("./comments.js").Comment}
 */
export function newComment(id, author, content) {
  return { id, userId: author.id, name: author.nickName, icon: author.icon, content, liked: 0, isLike: false, isRemoved: false, createTime: "" };
}
