// The start screen of a kiosk of one shop: its vouchers, and the way to the visitor's orders.

import { Refusal, get } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { firstPicture, picture } from "../../parts/picture.js";
import { skeletons } from "../../parts/skeleton.js";
import { ONLY_SHOP } from "../kiosk/options.js";
import { shopShelf } from "../shop-shelf.js";

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title, restoreScroll }) {
  const id = String(ONLY_SHOP);
  title(t("欢迎", "Welcome"));
  const [front, vouchers] = [h("header", { class: "one-shop-front" }, skeletons(1, "14rem")), h("div", { class: "one-shop-vouchers" }, skeletons(3, "6.5rem"))];
  root.append(h("div", { class: "welcome" }, front,
    h("section", { "aria-label": t("优惠券", "Vouchers") }, h("h2", { class: "unseen" }, t("优惠券", "Vouchers")), vouchers),
    h("nav", { class: "welcome-ways", "aria-label": t("去哪里", "Navigation") },
      linkButton(t("店铺介绍与评价", "About this shop"), `#/shop/${id}`, { look: ["main"], icon: "shop" }),
      linkButton(t("我的订单与券码", "My orders and receipts"), "#/orders", { icon: "order" }))));
  try {
    await staleWhileRevalidate(`shop ${id}`, () => get(`/shop/${id}`, { signal }), (/** @type {import("../cards/shop.js").Shop} */ shop) => {
      title(shop.name);
      fill(front, picture(firstPicture(shop.images)), h("div", null, h("h1", null, shop.name), h("p", { class: "quiet" }, [shop.area, shop.openHours].filter(Boolean).join(" · "))));
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    fill(root, h("h1", { class: "unseen" }, t("没有这家店", "No such shop")), emptyState("shop",
      t("没有这家店。请检查终端的网址：shop=后面要写本商场一家店铺的编号。", "There is no such shop. Check the address of this kiosk: shop= names a shop of this mall by its number.")));
    return;
  }
  shopShelf(vouchers, id, signal);
  restoreScroll();
}
