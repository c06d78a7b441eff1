// A shop: pictures, facts, vouchers and reviews.

import { Unreachable, get, hasToken } from "../../core/api.js";
import { revalidate, staleWhileRevalidate } from "../../core/cache.js";
import { fill, h, signalSequence, onVisible } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { go } from "../../core/router.js";
import { screenHeader } from "../../parts/screen-header.js";
import { linkButton } from "../../parts/button.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { gallery } from "../../parts/gallery.js";
import { icon } from "../../parts/icons.js";
import { pictureList, picture } from "../../parts/picture.js";
import { formatYuan } from "../../parts/price.js";
import { keepFocus } from "../../parts/keep-focus.js";
import { confirmAction } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { stars } from "../../parts/stars.js";
import { reviewSection } from "../reviews/reviews.js";
import { readAreas } from "../areas.js";
import { buy } from "../buy.js";
import { saleVoucherCard, voucherCard } from "../cards/voucher.js";
import { goToLogin, redirectIfUnauthorized } from "../login-guard.js";
import { smallMap } from "../map.js";
import { place } from "../place.js";
import { readShopVouchers } from "../shop-vouchers.js";

/** @typedef {import("../cards/shop.js").Shop} Shop */
/** @typedef {import("../cards/voucher.js").Voucher} Voucher */

/** Delay after the opening or end of a sale before it is read again. */
const AGAIN_MS = 1_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  title(t("店铺", "Shop"));
  const [pictures, facts, vouchers] = [h("div", { class: "front-pictures" }, skeletons(1, "100%")), h("div", { class: "stack" }, skeletons(3, "3rem")), h("div", { class: "stack" }, skeletons(3, "6.5rem"))];
  root.append(screenHeader(t("店铺", "Shop"), { home: "/shops" }), h("div", { class: "two" }, h("div", { class: "stack" }, pictures, facts),
    h("section", { class: "side", "aria-label": t("优惠券", "Vouchers") }, vouchers)), reviewSection(Number(params.id), signal));
  const ofVouchers = signalSequence(signal);
  const shelfName = `shelf ${params.id}`;
  const read = () => readShopVouchers(params.id, signal);
  const redraw = keepFocus(vouchers);
  showVouchers();
  onVisible(signal, refreshSales);
  await staleWhileRevalidate(`shop ${params.id}`, () => get(`/shop/${params.id}`, { signal }), (/** @type {Shop} */ shop) => {
    title(shop.name);
    const paths = pictureList(shop.images);
    fill(pictures, paths.length > 0 ? gallery(paths, shop.name) : picture(undefined));
    fill(facts, shopFacts(shop));
    restoreScroll();
  });

  /** @param {Awaited<ReturnType<typeof readShopVouchers>>} shelf */
  function render({ ordinary, sales }) {
    const whileDrawn = ofVouchers();
    const cards = [...sales.map(({ voucher, live }) => saleVoucherCard(voucher, live, whileDrawn, scheduleRefresh)), ...ordinary.map((voucher) => voucherCard(voucher, () => confirmPurchase(voucher)))];
    redraw(() => fill(vouchers, cards.length > 0 ? cards : emptyState("ticket", t("这家店现在没有优惠券。", "This shop has no vouchers right now."))));
  }

  /** Waits until the server reports the change as well. */
  function scheduleRefresh() {
    setTimeout(() => signal.aborted || refreshSales(), AGAIN_MS);
  }

  function refreshSales() {
    revalidate(shelfName, read, render);
  }

  async function showVouchers() {
    try {
      await staleWhileRevalidate(shelfName, read, render);
    } catch (error) {
      if (!signal.aborted) fill(vouchers, errorState(error, showVouchers));
    }
  }

  /** @param {Voucher} voucher */
  async function confirmPurchase(voucher) {
    if (!hasToken()) {
      goToLogin();
      return;
    }
    const isConfirmed = await confirmAction(voucher.title, t(`下单后付款 ${formatYuan(voucher.payValue)}。`, `You will pay ${formatYuan(voucher.payValue)} after ordering.`), t("下单", "Place order"));
    if (!isConfirmed) return;
    try {
      const order = await buy(voucher.id);
      if (signal.aborted) showToast(t("下单成功，请到订单里付款", "Order placed. Pay for it under Orders."));
      else go(`/order/${order}`);
    } catch (error) {
      if (error instanceof Unreachable) showToast(t("没有收到响应。再点一次即可确认，不会重复购买。", "No response. Press again to check; nothing is bought twice."), { bad: true });
      else if (signal.aborted || !redirectIfUnauthorized(error)) throw error;
    }
  }

  /** @param {Shop} shop */
  function shopFacts(shop) {
    const map = h("div", { class: "shop-map" });
    readAreas(signal).then((areas) => fill(map, smallMap(shop, areas, place())), () => {});
    return [
      h("div", { class: "stack tight" }, h("h2", { class: "large-title" }, shop.name),
        h("div", { class: "row wrap small" }, stars(shop.score), shop.comments > 0 && h("span", { class: "quiet" }, t(`${shop.comments}条评价`, `${shop.comments} reviews`)),
          shop.avgPrice > 0 && h("span", { class: "quiet" }, t(`人均 ${formatYuan(shop.avgPrice * 100)}`, `${formatYuan(shop.avgPrice * 100)} per person`)),
          shop.sold > 0 && h("span", { class: "quiet" }, t(`已售 ${shop.sold}`, `${shop.sold} sold`)))),
      h("div", { class: "card shop-facts" },
        shop.openHours && h("p", { class: "row" }, icon("clock"), h("span", null, h("span", { class: "unseen" }, t("营业时间 ", "Open ")), shop.openHours)),
        h("p", { class: "row" }, icon("place"), h("span", { class: "grow" }, h("span", { class: "unseen" }, t("地址 ", "Address ")), [shop.area, shop.address].filter(Boolean).join(" · "))),
        map),
      !isKiosk && h("div", null, linkButton(t("写一篇探店笔记", "Write a note about this shop"), `#/write?shop=${shop.id}`, { icon: "edit" })),
    ];
  }
}
