// Reviews: operators reply, fold, hide, delete and show them.

import { call, read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button, linkButton } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { emptyState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { picture, pictureList } from "../../parts/picture.js";
import { stars } from "../../parts/stars.js";
import { showToast } from "../../parts/toast.js";
import { refreshPendingCounts } from "../pending-counts.js";
import { filters } from "../pieces/filters.js";
import { formSheet } from "../pieces/form.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { askReason } from "../pieces/reason-dialog.js";
import { timestamp } from "../pieces/timestamp.js";

/** @typedef {"shown" | "reported" | "folded" | "hidden" | "deleted"} State */

/**
 * An item of `GET /ops/remarks`.
 * @typedef {object} Review
 * @property {number} id
 * @property {number} itemId the shop
 * @property {number} userId
 * @property {string} [orderId]
 * @property {number} score
 * @property {string} content
 * @property {string} images
 * @property {string} name
 * @property {number} votes
 * @property {boolean} edited
 * @property {{content: string, createTime: string}} [reply]
 * @property {State} visibility
 * @property {string} createTime
 */

const PAGE_SIZE = 20;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, params, signal, title } = context;
  const name = t("评价", "Reviews");
  title(name);
  const list = listing(context, {
    size: PAGE_SIZE,
    load: async (current) => {
      const { data, total } = await read("/ops/remarks", { query: { current, visibility: params.visibility || undefined, shopId: params.shopId || undefined }, signal });
      return { rows: data, total };
    },
    draw: (rows, reload) => h("ul", { class: "reports" }, rows.map((review) => h("li", { class: "card pad stack", "aria-label": t(`${review.name}的评价`, `Review by ${review.name}`) }, reviewCard(review, reload)))),
    none: () => emptyState("star", t("没有这样的评价。", "No such reviews.")),
  });
  list.root.classList.add("plain");
  /** @type {State[]} */
  const states = ["shown", "reported", "folded", "hidden", "deleted"];
  root.append(heading(name, linkButton(t("“有用”流水", "Ledger of votes"), "#/votes", { icon: "list" })),
    filters(params, [
      { name: "visibility", label: t("状态", "State"), options: [{ value: "", text: t("全部", "All") }, ...states.map((value) => ({ value, text: stateText(value) }))] },
      { name: "shopId", label: t("店铺编号", "Shop id"), attributes: { inputmode: "numeric" } },
    ]), list.root);
}

/**
 * @param {Review} review
 * @param {() => Promise<void>} reload
 */
function reviewCard(review, reload) {
  const { id, itemId, userId, orderId, score, content, images, name, votes, edited, reply, visibility, createTime } = review;
  return [
    h("div", { class: "row wrap small" }, stateChip(visibility), stars(score), h("strong", null, name), timestamp(createTime), edited && h("span", { class: "quiet" }, t("已修改", "edited"))),
    content && h("p", { class: "review-content" }, content),
    images && h("div", { class: "thumbs" }, pictureList(images).map((image) => h("span", { class: "thumb" }, picture(image, t("评价的图片", "A picture of the review"))))),
    reply && h("p", { class: "small" }, h("strong", null, t("店家回复：", "Reply of the shop: ")), reply.content),
    visibility !== "deleted" && h("div", { class: "row wrap" }, decisions(review, reload), replyButtons(review, reload)),
    h("div", { class: "row wrap small" },
      h("a", { class: "link", href: `#/votes?review=${id}` }, t(`有用 ${votes}：看流水`, `Helpful ${votes}: ledger`)),
      visibility !== "hidden" && visibility !== "deleted" && h("a", { class: "link", href: `/mall/#/review/${id}`, target: "_blank", rel: "noopener" }, t("看原文", "View original")),
      h("a", { class: "link", href: `#/shop/${itemId}` }, t("看店铺", "View shop")),
      orderId !== undefined && h("a", { class: "link", href: `#/order/${orderId}` }, t("看订单", "View order")),
      h("a", { class: "link", href: `#/users?id=${userId}` }, t("看作者", "View author"))),
  ];
}

/**
 * @param {Review} review
 * @param {() => Promise<void>} reload
 */
function decisions({ id, visibility }, reload) {
  /** @type {[State, string, string, import("../../parts/icons.js").IconName][]} */
  const all = [
    ["shown", t("展示", "Show"), t("所有人都看得到，计入店铺评分。", "Everybody sees the review, and it counts."), "check"],
    ["folded", t("折叠", "Fold"), t("单独列在最后，不计入店铺评分，“有用”数归零。", "Listed apart, not part of the score, and its votes are removed."), "down"],
    ["hidden", t("隐藏", "Hide"), t("只有作者看得到，“有用”数归零。", "Only its author sees the review, and its votes are removed."), "close"],
    ["deleted", t("删除", "Delete"), t("内容和图片立即删除，无法恢复。", "Text and pictures are deleted at once and for good."), "trash"],
  ];
  return all.filter(([state]) => state !== visibility).map(([state, text, consequence, icon]) =>
    button(text, () => askReason(t(`${text}这条评价？`, `${text} this review?`), consequence, text, async (reason) => {
      await call("PUT", `/ops/remarks/${id}/visibility`, { body: { visibility: state, reason } });
      refreshPendingCounts().catch(() => {});
      await reload();
    }), { icon, look: state === "deleted" ? ["danger"] : [] }));
}

/**
 * @param {Review} review
 * @param {() => Promise<void>} reload
 */
function replyButtons({ id, reply }, reload) {
  const write = button(reply ? t("改回复", "Edit reply") : t("回复", "Reply"), () => {
    const text = field(t("以店铺的名义回复", "Reply on behalf of the shop"), "textarea", { maxlength: 512, required: true }, reply?.content ?? "");
    return formSheet(t("回复评价", "Reply to the review"), [{ field: text, names: ["回复", "reply", "content"] }], t("发布回复", "Post reply"), async () => {
      await call("PUT", `/ops/remarks/${id}/reply`, { body: { content: text.input.value } });
      await reload();
    });
  }, { icon: "comment" });
  if (!reply) return [write];
  return [write, button(t("删除回复", "Remove reply"), async () => {
    await call("DELETE", `/ops/remarks/${id}/reply`);
    showToast(t("回复已删除", "Reply removed"));
    await reload();
  }, { icon: "trash" })];
}

/** @param {State} state */
function stateText(state) {
  switch (state) {
    case "shown": return t("展示中", "Shown");
    case "reported": return t("被举报", "Reported");
    case "folded": return t("已折叠", "Folded");
    case "hidden": return t("已隐藏", "Hidden");
    default: return t("已删除", "Deleted");
  }
}

/** @param {State} state */
function stateChip(state) {
  return chip(stateText(state), state === "shown" ? "good" : state === "folded" ? "" : "bad");
}
