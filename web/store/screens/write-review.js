// Writing or editing a review. The draft of a new one stays in the browser until posted, and is posted once.

import { Refusal, Unreachable, call, get } from "../../core/api.js";
import { invalidate, setCached } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { go } from "../../core/router.js";
import { me } from "../../core/session.js";
import { whileBusy, linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { icon } from "../../parts/icons.js";
import { pictureList } from "../../parts/picture.js";
import { screenHeader } from "../../parts/screen-header.js";
import { errorMessage, showToast } from "../../parts/toast.js";
import { redirectIfUnauthorized, requireLogin } from "../login-guard.js";
import { deleteDraft, emptyDraft, loadDraft, saveDraft } from "../reviews/draft.js";
import { starField } from "../reviews/star-field.js";
import { TAGS, tagText } from "../reviews/tags.js";
import { pictures } from "../writing/pictures.js";

/** @typedef {import("../reviews/draft.js").ReviewDraft} ReviewDraft */
/** @typedef {import("../reviews/review.js").Review} Review */

const MAX_TEXT_LENGTH = 2_048;
const MAX_YUAN = 1_000_000;

/** @param {import("../../core/router.js").ScreenContext} context with the parameter `order`, or `id` of an own review */
export async function open({ root, params, signal, title: name }) {
  const title = params.id ? t("修改评价", "Edit the review") : t("写评价", "Write a review");
  name(title);
  if (isKiosk) {
    root.append(emptyState("edit", t("请用自己的手机写评价。", "Please write reviews on your own phone."), linkButton(t("我的订单", "My orders"), "#/orders")));
    return;
  }
  if (!requireLogin()) return;
  const author = await me();
  if (!author || signal.aborted) return;
  const { id, order } = params;
  const draft = id ? draftOf(await get(`/remark/${id}`, { signal })) : loadDraft(author.id, order ?? "");
  const keep = () => {
    if (!id) saveDraft(author.id, order ?? "", draft);
  };
  const change = (/** @type {Partial<ReviewDraft>} */ changes) => {
    Object.assign(draft, changes);
    keep();
  };
  // The request id is stored before it is used.
  keep();

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
  const submit = h("button", { type: "submit", class: "button main wide" }, id ? t("保存修改", "Save") : t("发布评价", "Post the review"));
  const notice = h("div", { role: "status" });
  const inside = h("fieldset", { class: "stack write" }, h("legend", { class: "unseen" }, title), rating.root, text.root, left, images.root, tags, price.root);
  root.append(h("div", { class: "write-page" }, screenHeader(title, { home: "/orders" }),
    h("form", { class: "stack", novalidate: true, onsubmit: submitForm }, h("div", { class: "card pad" }, inside), notice, submit,
      !id && h("p", { class: "quiet small" }, t("草稿会自动保存在这台设备上，退出登录时删除。", "The draft is saved on this device as you write, until you log out.")))));
  text.input.addEventListener("input", () => {
    change({ text: text.input.value });
    showLeft();
  });
  price.input.addEventListener("input", () => change({ price: price.input.value }));
  showLeft();

  function showLeft() {
    left.textContent = `${draft.text.length} / ${MAX_TEXT_LENGTH}`;
  }

  /** @param {SubmitEvent} event */
  function submitForm(event) {
    event.preventDefault();
    const cents = centsOf(draft.price);
    if (cents === null) price.wrong(t("请输入金额，例如 48 或 48.5", "Enter an amount like 48 or 48.5"));
    if (draft.halfStars === 0) rating.wrong(t("请先点星星评分", "Choose the stars first"));
    if (cents === null || draft.halfStars === 0) return;
    whileBusy(submit, async () => {
      inside.disabled = true;
      fill(notice, h("p", { class: "notice" }, icon("clock"), t("正在发布…", "Posting…")));
      try {
        const paths = await images.uploaded();
        const body = { score: draft.halfStars * 5, content: draft.text.trim(), images: paths.join(","), averagePrice: cents, tags: draft.tags };
        if (id) await call("PUT", `/remark/${id}`, { body });
        else await call("POST", "/remark", { body: { ...body, orderId: order, requestId: draft.requestId } });
        onPosted();
      } catch (error) {
        if (!signal.aborted) showFailure(error);
      }
    });
  }

  function onPosted() {
    if (!id) deleteDraft(author?.id ?? 0, order ?? "", draft);
    invalidate("reviews");
    if (order) setCached(`review of ${order}`, undefined);
    showToast(id ? t("评价已修改", "Review saved") : t("评价已发布", "Review posted"));
    if (!signal.aborted) go("/me/reviews", { replace: true });
  }

  /** @param {unknown} error */
  function showFailure(error) {
    inside.disabled = false;
    fill(notice);
    if (redirectIfUnauthorized(error)) return;
    const isLost = error instanceof Unreachable;
    fill(notice, h("p", { class: "notice bad" }, icon(isLost ? "offline" : "warn"), h("span", { class: "grow" }, errorMessage(error),
      (isLost || !(error instanceof Refusal)) && t("。草稿已保留，再按一次即可，不会重复发布。", ". The draft is kept. Press again; nothing is posted twice."))));
  }
}

/**
 * @param {Review} review
 * @returns {ReviewDraft} for an edit; its pictures are on the server
 */
function draftOf(review) {
  return {
    ...emptyDraft(), halfStars: review.score / 5, text: review.content, tags: review.tags,
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
