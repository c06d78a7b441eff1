// The user's own reviews.

import { get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { byPage, infiniteList } from "../../parts/infinite-list.js";
import { screenHeader } from "../../parts/screen-header.js";
import { requireLoginThroughout } from "../login-guard.js";
import { reviewItem } from "../reviews/review.js";

/** @typedef {import("../reviews/review.js").Review} Review */

/** Reviews per response of the server. */
const PAGE = 10;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title, restoreScroll }) {
  const name = t("我的评价", "My reviews");
  title(name);
  if (!requireLoginThroughout(signal)) return;
  const list = infiniteList({
    name: "reviews mine", look: "stack", height: "8rem", signal, key: (/** @type {Review} */ review) => review.id,
    load: byPage(PAGE, (curIndex) => get("/remark/of/me", { query: { curIndex }, signal })),
    draw: (review) => reviewItem(review, {
      showsShop: true,
      onRemoved: () => {
        list.drop(review.id);
      },
    }),
    none: () => emptyState("star", t("还没有评价。使用过的订单可以评价。", "No reviews yet. Used orders can be reviewed."), linkButton(t("我的订单", "My orders"), "#/orders", { look: ["main"] })),
  });
  root.append(h("div", { class: "narrow stack" }, screenHeader(name, { home: "/me" }), list.root));
  restoreScroll();
}
