// Reported content: operators hide it or dismiss the reports.

import { call, read } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button, iconButton } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { emptyState } from "../../parts/empty-state.js";
import { pictureList, picture } from "../../parts/picture.js";
import { stars } from "../../parts/stars.js";
import { confirmAction } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { refreshPendingCounts } from "../pending-counts.js";
import { timestamp } from "../pieces/timestamp.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { keepFocus } from "../../parts/keep-focus.js";

/**
 * An item of `GET /ops/reports`.
 * @typedef {object} Report
 * @property {"note" | "comment" | "review"} kind
 * @property {number} id
 * @property {number} [blogId] the note, or the note of a comment
 * @property {number} [itemId] the shop of a review
 * @property {number} userId
 * @property {string} title
 * @property {string} content
 * @property {string} images
 * @property {number} [score] stars times ten of a review
 * @property {boolean} [folded] whether a review is folded
 * @property {number} count
 * @property {string[]} reasons
 * @property {string} latestTime
 */

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, signal, title } = context;
  title(t("举报", "Reports"));
  const list = listing(context, {
    size: 20,
    load: async (current) => {
      const { data, total } = await read("/ops/reports", { query: { current }, signal });
      return { rows: data, total };
    },
    draw: (rows, _, outdated) => h("ul", { class: "reports" }, rows.map((report) => h("li", { class: "card pad stack" }, reportCard(report, outdated)))),
    none: () => emptyState("check", t("没有待处理的举报。", "No pending reports.")),
  });
  list.root.classList.add("plain");
  root.append(heading(t("举报", "Reports")),
    h("p", { class: "quiet intro" }, t("被举报的内容在您决定之前照常可见。", "Reported content stays visible until you decide.")), list.root);
}

/** Reviews alone are folded. @typedef {"hide" | "fold" | "show"} Decision */

/**
 * @param {Report} report
 * @param {() => void} onDecided
 */
function reportCard(report, onDecided) {
  const { kind, id, blogId, userId, title, content, images, score, folded, count, reasons, latestTime } = report;
  return [
    h("div", { class: "row wrap small" }, chip(kindText(kind), "accent"),
      chip(t(`${count} 人举报`, `reported by ${count}`), "bad"),
      score !== undefined && stars(score), folded && chip(t("已折叠", "Folded")), h("span", { class: "quiet" }, timestamp(latestTime))),
    title && h("h2", null, title),
    contentLines(content).map((line) => h("p", null, line)),
    images && h("div", { class: "thumbs" }, pictureList(images).map(reportedPicture)),
    h("ul", { class: "reasons" }, reasons.map((reason) => h("li", { class: "small" }, reason))),
    h("div", { class: "row wrap" },
      decisionButtons(report, onDecided),
      h("a", { class: "link", href: kind === "review" ? `/mall/#/review/${id}` : `/mall/#/note/${blogId}`, target: "_blank", rel: "noopener" }, t("看原文", "View original")),
      h("a", { class: "link", href: `#/users?id=${userId}` }, t("看作者", "View author"))),
  ].flat();
}

/** @param {Report["kind"]} kind */
function kindText(kind) {
  if (kind === "review") return t("评价", "Review");
  return kind === "note" ? t("笔记", "Note") : t("评论", "Comment");
}

/**
 * Shows the possible decisions, then the decision taken with a way to revert it until the list reloads.
 * @param {Report} report
 * @param {() => void} onDecided
 */
function decisionButtons({ kind, id, folded = false }, onDecided) {
  const place = h("div", { class: "row wrap", role: "status" },
    button(t("隐藏", "Hide"), () => decide("hide"), { icon: "close", look: ["danger"] }),
    kind === "review" && !folded && button(t("折叠", "Fold"), () => decide("fold"), { icon: "down" }),
    // A folded review stays folded.
    button(t("没有问题", "Keep"), () => decide(folded ? "fold" : "show"), { icon: "check" }));
  const redraw = keepFocus(place);
  return place;

  /** @param {Decision} choice */
  async function decide(choice) {
    if (kind === "review") await call("PUT", `/ops/remarks/${id}/visibility`, { body: { visibility: REVIEW_STATES[choice], reason: t("处理举报", "report decided") } });
    else await call("POST", `/ops/reports/${kind}/${id}/${choice}`);
    onDecided();
    refreshPendingCounts().catch(() => {});
    const isShown = choice === "show";
    redraw(() => fill(place, decisionChip(choice, kind),
      !isShown && button(t("恢复显示", "Show again"), () => decide("show"), { icon: "back" }),
      choice !== "hide" && button(t("改为隐藏", "Hide instead"), () => decide("hide"), { icon: "back" })));
  }
}

/**
 * The state of a review that each decision leads to.
 * @type {Record<Decision, "hidden" | "folded" | "shown">}
 */
const REVIEW_STATES = { hide: "hidden", fold: "folded", show: "shown" };

/**
 * @param {Decision} choice
 * @param {Report["kind"]} kind
 */
function decisionChip(choice, kind) {
  switch (choice) {
    case "hide": return chip(kind === "review" ? t("已隐藏，只有作者看得到", "Hidden from everybody but its author") : t("已隐藏，没有人看得到", "Hidden from everybody"), "bad");
    case "fold": return chip(t("已折叠，不计入店铺评分；举报已处理", "Folded, and not part of the score; the reports are decided"), "long");
    default: return chip(t("保留，大家都看得到；举报已处理", "Visible to everybody; the reports are dismissed"), "good");
  }
}

/**
 * A picture of a reported note or review. An upload, or a file of an import, can be removed for good; a drawing cannot.
 * @param {string} image
 */
function reportedPicture(image) {
  const place = h("span", { class: "thumb" }, picture(image, t("笔记的图片", "A picture of the note")));
  const isRemovable = image.startsWith("/imgs/") && !image.endsWith(".svg");
  if (isRemovable) place.append(h("span", { class: "thumb-acts" }, iconButton("trash", t("永久删除这张图片", "Remove this picture for good"), erase)));
  return place;

  async function erase() {
    const isConfirmed = await confirmAction(t("永久删除这张图片？", "Remove this picture for good?"),
      t("图片立即从商城删除，无法恢复。看过的浏览器和CDN可能还留有副本。", "The mall deletes the picture at once and for good. Browsers and CDNs that showed it may keep a copy."),
      t("删除图片", "Remove picture"), { danger: true });
    if (!isConfirmed) return;
    await call("DELETE", `/ops/pictures/${encodeURIComponent(image)}`);
    fill(place, picture(undefined));
    showToast(t("图片已删除", "Picture removed"));
  }
}

/**
 * Splits a text into lines at its markup for line breaks.
 * @param {string} content
 */
function contentLines(content) {
  return content.split(/<\/?(?:br|p)(?:[\s/][^<>]*)?>|\n/i).filter((line) => line.trim());
}
