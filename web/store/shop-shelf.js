// The vouchers that a shop sells, to be bought or followed to their sale.

import { Unreachable, hasToken } from "../core/api.js";
import { revalidate, staleWhileRevalidate } from "../core/cache.js";
import { fill, onVisible, signalSequence } from "../core/dom.js";
import { t } from "../core/language.js";
import { go } from "../core/router.js";
import { emptyState, errorState } from "../parts/empty-state.js";
import { keepFocus } from "../parts/keep-focus.js";
import { formatYuan } from "../parts/price.js";
import { confirmAction } from "../parts/sheet.js";
import { showToast } from "../parts/toast.js";
import { buy } from "./buy.js";
import { saleVoucherCard, voucherCard } from "./cards/voucher.js";
import { goToLogin, redirectIfUnauthorized } from "./login-guard.js";
import { readShopVouchers } from "./shop-vouchers.js";

/** @typedef {import("./cards/voucher.js").Voucher} Voucher */

/** Delay after the opening or end of a sale before it is read again. */
const AGAIN_MS = 1_000;

/**
 * Fills a place with the cards of a shop's vouchers, and keeps them up to date.
 * @param {HTMLElement} vouchers
 * @param {string} shop
 * @param {AbortSignal} signal
 */
export function shopShelf(vouchers, shop, signal) {
  const ofVouchers = signalSequence(signal);
  const shelfName = `shelf ${shop}`;
  const read = () => readShopVouchers(shop, signal);
  const redraw = keepFocus(vouchers);
  showVouchers();
  onVisible(signal, refreshSales);

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
}
