// A review of a shop, with its pictures, the shop's reply, and what the reader can do about it.

import { call, callWithRetries, get } from "../../core/api.js";
import { invalidate } from "../../core/cache.js";
import { h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { avatar } from "../../parts/avatar.js";
import { whileBusy } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { dateTime } from "../../parts/date-time.js";
import { picture, pictureList } from "../../parts/picture.js";
import { formatYuan } from "../../parts/price.js";
import { confirmAction } from "../../parts/sheet.js";
import { stars } from "../../parts/stars.js";
import { showToast } from "../../parts/toast.js";
import { redirectIfUnauthorized } from "../login-guard.js";
import { likeButton } from "../notes/like-button.js";
import { report } from "../notes/report.js";
import { tagText } from "./tags.js";

/**
 * An item of `GET /remark`.
 * @typedef {object} Review
 * @property {number} id
 * @property {number} itemId the shop
 * @property {number} userId
 * @property {string} [orderId] of an own review
 * @property {number} score stars times ten
 * @property {string} content
 * @property {string} images
 * @property {number} [averagePrice] cents
 * @property {import("./tags.js").Tag[]} tags
 * @property {string} name
 * @property {string} icon
 * @property {number} votes
 * @property {boolean} voting whether the reader sees an own vote
 * @property {boolean} mine
 * @property {"order" | "imported" | "demo"} origin
 * @property {boolean} edited
 * @property {{content: string, createTime: string}} [reply]
 * @property {"shown" | "reported" | "folded" | "hidden"} visibility
 * @property {string} createTime
 * @property {string} cursor
 */

/**
 * @param {Review} review
 * @param {{onRemoved: () => unknown, showsShop?: boolean, isAlone?: boolean}} options `isAlone`: on the review's own
 * screen, which no heading tells whether the review is folded
 */
export function reviewItem(review, { onRemoved, showsShop = false, isAlone = false }) {
  const to = `#/person/${review.userId}`;
  const pictures = pictureList(review.images);
  return h("article", { class: "comment review", "aria-label": t(`${review.name}的评价`, `Review by ${review.name}`) },
    h("a", { href: to, "aria-hidden": "true", tabindex: "-1" }, avatar(review)),
    h("div", { class: "grow stack tight" },
      h("div", { class: "row tight wrap small quiet" }, h("a", { href: to, class: "comment-name" }, review.name), originChip(review), isAlone ? dateTime(review.createTime) : h("a", { class: "review-date", href: `#/review/${review.id}` }, dateTime(review.createTime)),
        review.edited && h("span", null, t("已修改", "edited"))),
      h("div", { class: "row wrap small" }, stars(review.score),
        review.averagePrice !== undefined && h("span", { class: "quiet" }, t(`人均 ${formatYuan(review.averagePrice)}`, `${formatYuan(review.averagePrice)} per person`)),
        review.tags.map((tag) => chip(tagText(tag), "good"))),
      stateNotice(review, isAlone),
      review.content && h("p", { class: "comment-text" }, review.content),
      pictures.length > 0 && h("ul", { class: "review-pictures" }, pictures.map((path, index) => h("li", null, picture(path, t(`${review.name}的图片 ${index + 1}`, `Picture ${index + 1} by ${review.name}`))))),
      review.reply && h("div", { class: "review-reply small" }, h("strong", null, t("店家回复：", "Reply of the shop: ")), review.reply.content),
      showsShop && h("p", { class: "row wrap small" }, h("a", { class: "link", href: `#/review/${review.id}` }, t("查看评价", "View review")), shopLink(review.itemId)),
      !isKiosk && h("div", { class: "row tight comment-acts" }, review.mine ? ownActions(review, onRemoved) : [voteButton(review), act(t("举报", "Report"), t(`举报${review.name}的评价`, `Report the review by ${review.name}`), () => report("review", review.id))])));
}

/**
 * The names of shops, by id. A failed request is repeated for the next review of the shop.
 * @type {Map<number, Promise<string | undefined>>}
 */
const shopNames = new Map();

/**
 * A link to a shop, by its name once that is known.
 * @param {number} shop
 */
export function shopLink(shop) {
  const link = h("a", { class: "link", href: `#/shop/${shop}` }, t("去店铺看看", "View shop"));
  const found = shopNames.get(shop) ?? get(`/shop/${shop}`).then(({ name }) => name);
  shopNames.set(shop, found);
  found.then((name) => name && (link.textContent = name), () => shopNames.delete(shop));
  return link;
}

/** @param {Review} review */
function originChip({ origin }) {
  if (origin === "demo") return chip(t("示例评价", "Demo"));
  return origin === "imported" && chip(t("导入的评价", "Imported"));
}

/**
 * @param {Review} review of the reader's own, if hidden
 * @param {boolean} isAlone
 */
function stateNotice({ visibility, mine }, isAlone) {
  if (mine && visibility === "hidden") return h("p", { class: "small notice" }, t("这条评价已被管理员隐藏，只有您看得到。", "An operator has hidden this review; only you can see it."));
  if (visibility !== "folded" || !(mine || isAlone)) return false;
  return h("p", { class: "small notice" }, t("这条评价已被管理员折叠：单独列在最后，不计入店铺评分，不能点“有用”。", "An operator has folded this review: it is listed apart, without votes and without weight in the shop’s score."));
}

/** @param {Review} review */
function voteButton(review) {
  if (review.visibility === "folded") return false;
  return likeButton({
    isVote: true, what: t(`${review.name}的评价`, `the review by ${review.name}`), likes: { isLike: review.voting, liked: review.votes },
    save: async (up) => (await callWithRetries("PUT", `/remark/${review.id}/vote/${up}`)).data.votes,
    look: async () => {
      const { votes, voting } = (await call("GET", `/remark/${review.id}`)).data;
      return { isLike: voting, liked: votes };
    },
    changed: (up, votes) => {
      review.votes = votes;
      review.voting = up;
    },
  }).root;
}

/**
 * @param {Review} review
 * @param {() => unknown} onRemoved
 */
function ownActions(review, onRemoved) {
  const votes = review.visibility !== "folded" && h("span", { class: "small quiet review-votes" }, t(`有用 ${review.votes}`, `Helpful ${review.votes}`));
  return [votes, h("a", { class: "button bare", href: `#/review?id=${review.id}` }, t("修改", "Edit")),
    act(t("删除", "Delete"), t("删除我的评价", "Delete my review"), () => remove(review, onRemoved))];
}

/**
 * @param {Review} review
 * @param {() => unknown} onRemoved
 */
async function remove(review, onRemoved) {
  const isConfirmed = await confirmAction(t("删除这条评价？", "Delete this review?"), t("评价无法恢复，这笔订单也不能再评价。", "The review cannot be restored, and its order cannot be reviewed again."),
    t("删除", "Delete"), { danger: true });
  if (!isConfirmed) return;
  try {
    await callWithRetries("DELETE", `/remark/${review.id}`);
  } catch (error) {
    if (!redirectIfUnauthorized(error)) throw error;
    return;
  }
  // Lists of reviews, and what orders say about theirs.
  for (const name of ["review", "orders"]) invalidate(name);
  showToast(t("评价已删除", "Review deleted"));
  onRemoved();
}

/**
 * @param {string} text
 * @param {string} label
 * @param {() => unknown} action
 */
function act(text, label, action) {
  const made = h("button", { type: "button", class: "button bare", "aria-label": label, onclick: () => whileBusy(made, action) }, text);
  return made;
}
