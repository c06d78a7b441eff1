// Writing or editing a review. The draft stays in the browser until posted. A new review is posted once: while a
// post is in doubt the form is closed, and the screen repeats the same post until the outcome is known.

import { Refusal, Unreachable, callWithRetries, get, isReachable, onReachable } from "../../core/api.js";
import { invalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { go } from "../../core/router.js";
import { me } from "../../core/session.js";
import { button, linkButton, whileBusy } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { icon } from "../../parts/icons.js";
import { pictureList } from "../../parts/picture.js";
import { screenHeader } from "../../parts/screen-header.js";
import { errorMessage, showToast } from "../../parts/toast.js";
import { redirectIfUnauthorized, requireLogin } from "../login-guard.js";
import { readOrder } from "../orders.js";
import { deleteDraft, emptyDraft, isEmpty, loadDraft, saveDraft } from "../reviews/draft.js";
import { ReviewExists, isUndecided, postReview, repeatDelay, reviewsOfOrders } from "../reviews/post.js";
import { shopLink } from "../reviews/review.js";
import { starField } from "../reviews/star-field.js";
import { TAGS, tagText } from "../reviews/tags.js";
import { pictures } from "../writing/pictures.js";

/** @typedef {import("../reviews/draft.js").ReviewDraft} ReviewDraft */
/** @typedef {import("../reviews/review.js").Review} Review */
/** @typedef {Review & {updateTime: string}} OwnReview */

const MAX_TEXT_LENGTH = 2_048;
const MAX_YUAN = 1_000_000;

/** @param {import("../../core/router.js").ScreenContext} context with the parameter `order`, or `id` of an own review */
export async function open({ root, params, signal, title: name }) {
  const { id, order = "" } = params;
  const title = id ? t("修改评价", "Edit the review") : t("写评价", "Write a review");
  name(title);
  if (isKiosk) {
    root.append(emptyState("edit", t("请用自己的手机写评价。", "Please write reviews on your own phone."), linkButton(t("我的订单", "My orders"), "#/orders")));
    return;
  }
  if (!requireLogin()) return;
  const author = await me();
  if (!author || signal.aborted) return;
  const writer = author.id;
  const draftName = id ? `edit-${id}` : order;
  const review = id ? /** @type {OwnReview} */ (await get(`/remark/${id}`, { signal })) : undefined;
  if (signal.aborted) return;
  if (review && !review.mine) {
    root.append(screenHeader(title, { home: "/me/reviews" }), emptyState("edit", t("只能修改自己的评价。", "You can edit your own reviews only."), linkButton(t("我的评价", "My reviews"), "#/me/reviews")));
    return;
  }
  const draft = review ? editOf(review, loadDraft(writer, draftName)) : loadDraft(writer, draftName);
  const keep = () => saveDraft(writer, draftName, draft);
  const change = (/** @type {Partial<ReviewDraft>} */ changes) => {
    Object.assign(draft, changes);
    keep();
  };
  // The request id is stored before it is used.
  if (!review) keep();

  const rating = starField(draft.halfStars, (halfStars) => change({ halfStars }));
  const text = field(t("评价（选填）", "Review (optional)"), "textarea", { class: "write-text", maxlength: MAX_TEXT_LENGTH, placeholder: t("味道、环境、服务……写下你的体验", "Taste, place, service: how was it?") }, draft.text);
  const left = h("p", { class: "quiet small number", "aria-live": "off" });
  const price = field(t("人均消费，元（选填）", "Average per person in yuan (optional)"), "input", { inputmode: "decimal", maxlength: 10, value: draft.price });
  const tags = h("fieldset", { class: "field" }, h("legend", { class: "quiet small" }, t("值得称赞的（选填）", "What was good (optional)")), h("div", { class: "row wrap" }, TAGS.map((tag) => {
    const input = h("input", { type: "checkbox", value: tag, checked: draft.tags.includes(tag) });
    input.addEventListener("change", () => change({ tags: TAGS.filter((other) => (other === tag ? input.checked : draft.tags.includes(other))) }));
    return h("label", { class: "row tight review-tag" }, input, h("span", null, tagText(tag)));
  })));
  const images = pictures(draft, keep, signal);
  const submit = h("button", { type: "submit", class: "button main wide" });
  const notice = h("div", { role: "status" });
  const inside = h("fieldset", { class: "stack write" }, h("legend", { class: "unseen" }, title), rating.root, text.root, left, images.root, tags, price.root);
  const subject = h("p", { class: "review-subject" }, review ? shopLink(review.itemId) : "\u00a0");
  const form = h("form", { class: "stack", novalidate: true, onsubmit: submitForm }, h("div", { class: "card pad" }, inside), notice, submit,
    h("p", { class: "quiet small" }, t("草稿会自动保存在这台设备上，退出登录时删除。", "The draft is saved on this device as you write, until you log out.")));
  root.append(h("div", { class: "write-page" }, screenHeader(title, { home: "/orders" }), subject, form));
  text.input.addEventListener("input", () => {
    change({ text: text.input.value });
    showLeft();
  });
  price.input.addEventListener("input", () => change({ price: price.input.value }));
  showLeft();
  /** Automatic repeats of the post in doubt. */
  let repeats = 0;
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  onReachable(() => draft.sent && isReachable() && repeat(), signal);
  openFields();
  // The form works without the name of what was bought.
  if (!review) readOrder(order, signal).then(({ title: bought }) => (subject.textContent = bought), () => {});
  if (draft.sent) await repeat();
  else if (!review) await lookForReview();

  function showLeft() {
    left.textContent = `${draft.text.length} / ${MAX_TEXT_LENGTH}`;
  }

  function openFields() {
    inside.disabled = false;
    submit.hidden = false;
    submit.textContent = review ? t("保存修改", "Save") : t("发布评价", "Post the review");
  }

  /** The order may have a review by now, for example from another window. */
  async function lookForReview() {
    const found = await reviewsOfOrders([order], signal).catch(() => []);
    if (!signal.aborted && found.length > 0 && !draft.sent) showExisting(found[0].remarkId, found[0].deleted);
  }

  /** @param {SubmitEvent} event */
  function submitForm(event) {
    event.preventDefault();
    if (draft.sent) {
      repeat();
      return;
    }
    if (!isComplete()) return;
    whileBusy(submit, async () => {
      showPosting();
      try {
        const body = bodyOf(draft, await images.uploaded());
        if (review) await saveEdit(review.id, body);
        else {
          // Stored before it is sent: whatever happens to this page, the same post is repeated.
          change({ sent: { ...body, orderId: order, requestId: draft.requestId } });
          await post(false);
        }
      } catch (error) {
        if (!signal.aborted) showFailure(error);
      }
    });
  }

  function isComplete() {
    const isWrongPrice = centsOf(draft.price) === null;
    if (isWrongPrice) price.wrong(t("请输入金额，例如 48 或 48.5", "Enter an amount like 48 or 48.5"));
    if (draft.halfStars === 0) rating.wrong(t("请先点星星评分", "Choose the stars first"));
    return !isWrongPrice && draft.halfStars > 0;
  }

  async function repeat() {
    clearTimeout(timer);
    await whileBusy(submit, () => post(true));
  }

  /** @param {boolean} isRepeat whether an earlier post is in doubt */
  async function post(isRepeat) {
    const { sent } = draft;
    if (!sent) return;
    showPosting();
    try {
      await postReview(sent);
      onPosted(t("评价已发布", "Review posted"));
    } catch (error) {
      if (isUndecided(error, isRepeat)) {
        if (!signal.aborted) showDoubt(error);
        return;
      }
      change({ sent: undefined });
      if (signal.aborted) return;
      if (error instanceof ReviewExists) await lookAtExisting(error.review);
      else showFailure(error);
    }
  }

  /**
   * @param {number} reviewId
   * @param {object} body
   */
  async function saveEdit(reviewId, body) {
    await callWithRetries("PUT", `/remark/${reviewId}`, { body });
    onPosted(t("评价已修改", "Review saved"));
  }

  function showPosting() {
    inside.disabled = true;
    fill(notice, h("p", { class: "notice" }, icon("clock"), t("正在发布…", "Posting…")));
  }

  /** @param {string} done */
  function onPosted(done) {
    deleteDraft(writer, draftName, draft);
    draft.sent = undefined;
    for (const name of ["review", "orders"]) invalidate(name);
    showToast(done);
    if (!signal.aborted) go("/me/reviews", { replace: true });
  }

  /** @param {unknown} error why nobody knows whether the review was posted */
  function showDoubt(error) {
    submit.textContent = t("马上再试", "Try again now");
    fill(notice, h("p", { class: "notice bad" }, icon(error instanceof Unreachable ? "offline" : "warn"), h("span", { class: "grow" }, errorMessage(error), t("。", " "), t(
      "评价可能已经发布。页面会自动重试，直到确认结果，不会重复发布；在此之前不能修改。",
      "The review may have been posted. This page tries again until the result is known, and posts nothing twice; until then the form stays closed."))));
    if (redirectIfUnauthorized(error)) return;
    clearTimeout(timer);
    timer = setTimeout(repeat, repeatDelay(repeats));
    repeats += 1;
  }

  /** @param {unknown} error reason why nothing was posted */
  function showFailure(error) {
    openFields();
    fill(notice);
    if (redirectIfUnauthorized(error)) return;
    const isLost = error instanceof Unreachable;
    const isUnclear = isLost || !(error instanceof Refusal);
    fill(notice, h("p", { class: "notice bad" }, icon(isLost ? "offline" : "warn"),
      h("span", { class: "grow" }, errorMessage(error), isUnclear && [t("。", " "), t("草稿已保留，可以再试一次。", "The draft is kept. Try again.")])));
  }

  /** @param {number} existing */
  async function lookAtExisting(existing) {
    const found = await reviewsOfOrders([order], signal).catch(() => []);
    if (!signal.aborted) showExisting(existing, found[0]?.deleted ?? false);
  }

  /**
   * The order has a review already: with other contents, or deleted.
   * @param {number} existing
   * @param {boolean} isDeleted
   */
  function showExisting(existing, isDeleted) {
    const view = linkButton(t("查看评价", "View review"), `#/review/${existing}`);
    if (isDeleted) form.replaceWith(emptyState("star", t("您删除了这笔订单的评价，不能再次评价。", "You deleted the review of this order, which cannot be reviewed again.")));
    else if (isEmpty(draft)) form.replaceWith(emptyState("star", t("这笔订单已经评价过了。", "This order has a review already."), view));
    else {
      openFields();
      submit.hidden = true;
      const replace = button(t("用这里的内容替换", "Replace it with this one"), () => isComplete() && replaceExisting(existing));
      fill(notice, h("div", { class: "notice bad" }, icon("warn"), h("div", { class: "grow stack tight" },
        h("p", null, t("这笔订单的评价之前已经发布，内容可能与这里的不同。", "A review of this order was posted before, perhaps with other contents than here.")),
        h("div", { class: "row wrap" }, view, replace))));
    }
  }

  /** @param {number} existing */
  async function replaceExisting(existing) {
    inside.disabled = true;
    try {
      await saveEdit(existing, bodyOf(draft, await images.uploaded()));
    } catch (error) {
      inside.disabled = false;
      if (!redirectIfUnauthorized(error)) throw error;
    }
  }
}

/**
 * Returns the contents of a review as the API takes them.
 * @param {ReviewDraft} draft
 * @param {string[]} paths of its pictures
 */
function bodyOf({ halfStars, text, price, tags }, paths) {
  return { score: halfStars * 5, content: text.trim(), images: paths.join(","), averagePrice: centsOf(price) ?? undefined, tags };
}

/**
 * Returns the draft of an edit: the stored one, unless the review has changed since.
 * @param {OwnReview} review
 * @param {ReviewDraft} stored
 * @returns {ReviewDraft} its pictures are on the server
 */
function editOf(review, stored) {
  if (stored.basedOn === review.updateTime) return stored;
  return {
    ...emptyDraft(), basedOn: review.updateTime, halfStars: review.score / 5, text: review.content, tags: review.tags,
    price: review.averagePrice === undefined ? "" : String(review.averagePrice / 100),
    pictures: pictureList(review.images).map((path) => ({ key: `kept ${path}`, path, since: Number.MAX_SAFE_INTEGER })),
  };
}

/**
 * @param {string} yuan
 * @returns {number | undefined | null} cents; `null` for a text that is no amount
 */
function centsOf(yuan) {
  const text = yuan.trim();
  if (!text) return undefined;
  return /^\d+(\.\d{1,2})?$/.test(text) && Number(text) <= MAX_YUAN ? Math.round(Number(text) * 100) : null;
}
