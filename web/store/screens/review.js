// A review on its own, under a link that can be shared.

import { Refusal, get } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { back } from "../../core/router.js";
import { linkButton } from "../../parts/button.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { screenHeader } from "../../parts/screen-header.js";
import { skeletons } from "../../parts/skeleton.js";
import { reviewItem, shopLink } from "../reviews/review.js";

/** @typedef {import("../reviews/review.js").Review} Review */

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  const name = t("评价", "Review");
  title(name);
  const place = h("div", { class: "stack" }, skeletons(1, "12rem"));
  root.append(h("div", { class: "narrow stack" }, screenHeader(name, { home: "/shops" }), place));
  await show();
  restoreScroll();

  async function show() {
    try {
      await staleWhileRevalidate(`reviews one ${params.id}`, () => get(`/remark/${params.id}`, { signal }), render);
    } catch (error) {
      if (signal.aborted) return;
      const isGone = error instanceof Refusal && error.code === "NOT_FOUND";
      fill(place, isGone ? goneState() : errorState(error, show));
    }
  }

  /** @param {Review} review */
  function render(review) {
    title(t(`${review.name}的评价`, `Review by ${review.name}`));
    fill(place, h("div", { class: "card pad" },
      h("h2", null, shopLink(review.itemId)),
      reviewItem(review, {
        isAlone: true,
        onRemoved: () => !signal.aborted && back("/me/reviews"),
      })));
  }
}

function goneState() {
  return emptyState("star", t("看不到这条评价：可能已被作者删除，或被管理员隐藏。", "This review cannot be shown: its author may have deleted it, or an operator may have hidden it."),
    linkButton(t("看看店铺", "Browse shops"), "#/shops"));
}
