// A flash sale: offer, opening by server time, stock and buy button.

import { get } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { screenHeader } from "../../parts/screen-header.js";
import { chip } from "../../parts/chip.js";
import { countdown } from "../../parts/countdown.js";
import { gallery } from "../../parts/gallery.js";
import { icon } from "../../parts/icons.js";
import { meter } from "../../parts/meter.js";
import { pictureList } from "../../parts/picture.js";
import { priceWithDiscount } from "../../parts/price.js";
import { skeletons } from "../../parts/skeleton.js";
import { errorMessage } from "../../parts/toast.js";
import { formatDateTime } from "../../parts/date-time.js";
import { stateChip } from "../cards/sale.js";
import { ruleLines } from "../cards/voucher.js";
import { buyButton } from "../sale/buy-button.js";
import { timetable } from "../sale/timetable.js";
import { effectiveState, pollSale } from "../sale/poll-sale.js";
import { waitingList } from "../sale/waiting-list.js";
import { waitingRoom } from "../sale/waiting-room.js";

/**
 * @typedef {object} SalePage the unchanging part of a sale
 * @property {string} title
 * @property {string} subTitle
 * @property {string} rules
 * @property {number} payValue cents
 * @property {number} actualValue cents
 * @property {string} beginTime
 * @property {string} endTime
 * @property {number} payWithinSeconds
 * @property {string} [payment] payment method of new orders
 * @property {number} minLevel
 * @property {number} perUser units that a user may hold
 * @property {import("../sale/timetable.js").PageWave[]} [waves]
 * @property {{enterBeforeMs: number}} [waitingRoom]
 * @property {{accountHours: number, smsCode: boolean}} [thresholds]
 * @property {{id: number, name: string, images: string, area: string, address: string, openHours: string}} [shop]
 */

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  title(t("限时秒杀", "Flash sale"));
  const [pictures, what, more] = [h("div", { class: "front-pictures" }, skeletons(1, "100%")),
    h("div", { class: "stack tight" }, ["1.64rem", "1.45rem", "2.25rem"].map((height) => skeletons(1, height))), h("div", { class: "stack" }, skeletons(2, "6rem"))];
  const clock = saleClock(signal);
  const { look, hear } = pollSale(params.id, signal, (sale) => {
    clock.show(sale);
    button.show(sale);
    waiting.show(sale);
    room.show(sale);
  }, clock.failed);
  const button = buyButton(params.id, signal, look);
  const waiting = waitingList(params.id, signal, look);
  const room = waitingRoom(params.id, signal, { look, hear, title });
  root.append(screenHeader(t("限时秒杀", "Flash sale")), h("div", { class: "two sale-page" }, pictures,
    h("div", { class: "sale-side card" }, what, clock.root, room.root, waiting.root, button.root), more));

  await staleWhileRevalidate(`sale ${params.id}`, () => get(`/sale/${params.id}/page`, { signal }), (/** @type {SalePage} */ page) => {
    room.entitle(page.title);
    const paths = pictureList(page.shop?.images);
    fill(pictures, paths.length > 0 && gallery(paths, page.shop?.name ?? ""));
    fill(what, h("h2", { class: "large-title" }, page.title), page.subTitle && h("p", { class: "quiet" }, page.subTitle),
      h("div", { class: "row wrap sale-price" }, priceWithDiscount(page.payValue, page.actualValue), discount(page)));
    fill(more, timetable(page.waves), terms(page), page.shop && shopLink(page.shop));
    button.limit(page.minLevel, page.perUser);
    room.opens(page.waitingRoom?.enterBeforeMs ?? 0);
    restoreScroll();
  });
}

/**
 * Creates countdown and stock meter.
 * @param {AbortSignal} signal
 */
function saleClock(signal) {
  const [label, time, state, left] = [h("span", { class: "small quiet" }), h("span", { class: "sale-time" }, "--:--"), h("span", null), h("span", { class: "small quiet number" }, "\u00a0")];
  const stock = meter(t("剩余数量", "Units left"));
  const root = h("div", { class: "stack sale-clock" },
    h("div", { class: "row wrap apart" }, h("div", { class: "stack tight" }, label, time), state),
    h("div", { class: "stack tight" }, stock.root, left));
  const countdownSignal = signalSequence(signal);
  /** @type {string | undefined} */
  let drawn;

  /** @param {import("../sale/poll-sale.js").LiveSale} sale */
  function show(sale) {
    const now = effectiveState(sale);
    const isUpcoming = now === "NOT_OPEN";
    const wave = now === "SOLD_OUT" ? sale.nextWave : undefined;
    const moment = isUpcoming ? sale.window.begins : wave?.at ?? sale.window.ends;
    const hasEnded = now === "ENDED";
    stock.root.hidden = hasEnded || sale.stock < 0;
    left.hidden = hasEnded;
    left.textContent = sale.stock < 0 ? t("不限量", "Unlimited") : t(`剩余 ${sale.stock} 份，共 ${sale.units} 份`, `${sale.stock} of ${sale.units} left`);
    stock.show(sale.stock, sale.units, left.textContent);
    const looks = `${now} ${sale.stock} ${Math.round(moment)}`;
    if (looks === drawn) return;
    drawn = looks;
    fill(state, now !== "OPEN" && !hasEnded && stateChip({ state: now, stock: sale.stock }));
    label.textContent = hasEnded ? "" : isUpcoming ? t("距开抢", "Opens in") : wave ? t(`距下一批（${wave.units} 份）`, `Next wave (${wave.units} units) in`) : t("距结束", "Ends in");
    fill(time, hasEnded ? t("已结束", "Ended") : countdown(moment, countdownSignal(), () => show(sale)));
  }

  /** @param {unknown} error the last known state stays on screen */
  function failed(error) {
    if (!drawn) fill(state, chip(errorMessage(error), "bad"));
  }

  return { root, show, failed };
}

/** @param {SalePage} page */
function discount({ payValue, actualValue }) {
  if (actualValue <= payValue) return null;
  const share = payValue / actualValue;
  return chip(t(`${Number((share * 10).toFixed(1))}折`, `${Math.round((1 - share) * 100)}% off`), "sale");
}

/** @param {SalePage} page */
function terms(page) {
  return h("section", { class: "card pad stack" }, h("h2", null, t("购买须知", "Purchase information")),
    h("ul", { class: "rules" }, ruleLines(page.rules).map((rule) => h("li", null, rule))),
    h("p", { class: "small quiet" }, `${formatDateTime(page.beginTime)} – ${formatDateTime(page.endTime)}`, paymentTerms(page),
      page.minLevel > 0 && t(` · 仅限 ${page.minLevel} 级以上会员`, ` · members of level ${page.minLevel} or higher`),
      page.perUser > 1 && t(` · 每人限购 ${page.perUser} 份`, ` · up to ${page.perUser} per person`),
      page.thresholds && page.thresholds.accountHours > 0 && t(` · 仅限注册满${ageText(page.thresholds.accountHours)}的账号`, ` · accounts at least ${ageText(page.thresholds.accountHours)} old`),
      page.thresholds?.smsCode && t(" · 须用短信验证码登录", " · log in with an SMS code")));
}

/** @param {number} hours */
function ageText(hours) {
  return hours % 24 === 0 ? t(` ${hours / 24} 天`, `${hours / 24} ${hours === 24 ? "day" : "days"}`) : t(` ${hours} 小时`, `${hours} h`);
}

/** @param {SalePage} page */
function paymentTerms({ payment, payWithinSeconds }) {
  const minutes = Math.round(payWithinSeconds / 60);
  if (payment === "none") return "";
  return payment === "counter" ? t(" · 抢到后到柜台付款", " · pay at the counter") : t(` · 抢到后${minutes}分钟内付款`, ` · pay within ${minutes} min`);
}

/** @param {NonNullable<SalePage["shop"]>} shop */
function shopLink(shop) {
  return h("a", { class: "card pad row", href: `#/shop/${shop.id}` }, icon("shop"),
    h("span", { class: "stack tight grow" }, h("strong", { class: "cut" }, shop.name),
      h("span", { class: "small quiet cut" }, [shop.area, shop.address].filter(Boolean).join(" · ")),
      shop.openHours && h("span", { class: "small quiet" }, shop.openHours)), icon("forward"));
}
