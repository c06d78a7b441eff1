// One thing that was said.

import { call } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { isKiosk } from "../../core/kept.js";
import { t } from "../../core/language.js";
import { cachedMe } from "../../core/session.js";
import { avatar } from "../../parts/avatar.js";
import { whileBusy } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { dateTime } from "../../parts/date-time.js";
import { likeButton } from "./like-button.js";
import { report } from "./report.js";

/**
 * @param {import("./comments.js").Comment} said
 * @param {{note: import("../cards/note.js").Note, answer: () => unknown, remove: () => unknown}} options
 */
export function comment(said, { note, answer, remove }) {
  if (said.isRemoved) return h("p", { class: "quiet small comment-gone" }, t("这条评论已删除", "This comment was deleted"));
  const isMine = cachedMe()?.id === said.userId;
  const to = `#/person/${said.userId}`;
  return h("div", { class: "comment" },
    h("a", { href: to, "aria-hidden": "true", tabindex: "-1" }, avatar(said)),
    h("div", { class: "grow" },
      h("div", { class: "row tight wrap small quiet" },
        h("a", { href: to, class: "comment-name" }, said.name),
        said.userId === note.userId && chip(t("作者", "Author"), "accent"),
        said.createTime ? dateTime(said.createTime) : t("刚刚", "just now")),
      h("p", { class: "comment-text" }, said.answerName && h("span", { class: "quiet" }, t(`回复 ${said.answerName}：`, `to ${said.answerName}: `)), said.content),
      !isKiosk && h("div", { class: "row tight comment-acts" },
        hearts(said),
        act(t("回复", "Answer"), t(`回复 ${said.name}`, `Answer ${said.name}`), answer),
        isMine ? act(t("删除", "Delete"), t("删除我的评论", "Delete my comment"), remove)
          : act(t("举报", "Report"), t(`举报 ${said.name} 的评论`, `Report ${said.name}’s comment`), () => report("comment", said.id)))));
}

/** @param {import("./comments.js").Comment} said */
function hearts(said) {
  return likeButton({
    what: t(`${said.name}的评论`, `${said.name}’s comment`), likes: said,
    toggle: () => call("PUT", `/blog-comments/like/${said.id}`),
    // There is no call that reads one comment alone.
    look: async () => undefined,
    changed: (isLike) => {
      if (said.isLike === isLike) return;
      said.liked += isLike ? 1 : -1;
      said.isLike = isLike;
    },
  }).root;
}

/**
 * @param {string} text
 * @param {string} label
 * @param {() => unknown} what
 */
function act(text, label, what) {
  const made = h("button", { type: "button", class: "button bare", "aria-label": label, onclick: () => whileBusy(made, what) }, text);
  return made;
}

/**
 * A comment that the mall just took.
 * @param {number} id
 * @param {import("../../core/session.js").Person} author
 * @param {string} content
 * @returns {import("./comments.js").Comment}
 */
export function fresh(id, author, content) {
  return { id, userId: author.id, name: author.nickName, icon: author.icon, content, liked: 0, isLike: false, isRemoved: false, createTime: "" };
}
