// A flash sale: what there is, when it opens by the mall's time, what is left, and the button.

import { get } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/copies.js";
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
import { rulesOf } from "../cards/voucher.js";
import { counter } from "../sale/counter.js";
import { stateOf, watch } from "../sale/watch.js";

/**
 * @typedef {object} SalePage what does not change from claim to claim
 * @property {string} title
 * @property {string} subTitle
 * @property {string} rules
 * @property {number} payValue cents
 * @property {number} actualValue cents
 * @property {string} beginTime
 * @property {string} endTime
 * @property {number} payWithinSeconds
 * @property {number} minLevel
 * @property {{id: number, name: string, images: string, area: string, address: string, openHours: string}} [shop]
 */

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  title(t("限时秒杀", "Flash sale"));
  const [pictures, what, more] = [h("div", { class: "front-pictures" }, skeletons(1, "100%")),
    h("div", { class: "stack tight" }, ["1.64rem", "1.45rem", "2.25rem"].map((height) => skeletons(1, height))), h("div", { class: "stack" }, skeletons(2, "6rem"))];
  const clock = clockOf(signal);
  const look = watch(params.id, signal, (live) => {
    clock.show(live);
    button.show(live);
  }, clock.failed);
  const button = counter(params.id, signal, look);
  root.append(screenHeader(t("限时秒杀", "Flash sale")), h("div", { class: "two sale-page" }, pictures,
    h("div", { class: "sale-side card" }, what, clock.root, button.root), more));

  await staleWhileRevalidate(`sale ${params.id}`, () => get(`/sale/${params.id}/page`, { signal }), (/** @type {SalePage} */ page) => {
    title(page.title);
    const paths = pictureList(page.shop?.images);
    fill(pictures, paths.length > 0 && gallery(paths, page.shop?.name ?? ""));
    fill(what, h("h2", { class: "large-title" }, page.title), page.subTitle && h("p", { class: "quiet" }, page.subTitle),
      h("div", { class: "row wrap sale-price" }, priceWithDiscount(page.payValue, page.actualValue), discount(page)));
    fill(more, terms(page), page.shop && seller(page.shop));
    restoreScroll();
  });
}

/**
 * What runs: to the opening, to the end, and what is left.
 * @param {AbortSignal} signal
 */
function clockOf(signal) {
  const [word, time, state, left] = [h("span", { class: "small quiet" }), h("span", { class: "sale-time" }, "--:--"), h("span", null), h("span", { class: "small quiet number" }, "\u00a0")];
  const stock = meter(t("剩余数量", "What is left"));
  const root = h("div", { class: "stack sale-clock" },
    h("div", { class: "row wrap apart" }, h("div", { class: "stack tight" }, word, time), state),
    h("div", { class: "stack tight" }, stock.root, left));
  const whileShown = signalSequence(signal);
  /** @type {string | undefined} */
  let drawn;

  /** @param {import("../sale/watch.js").Live} live */
  function show(live) {
    const now = stateOf(live);
    const isComing = now === "NOT_OPEN";
    const moment = isComing ? live.window.begins : live.window.ends;
    const isOver = now === "ENDED";
    stock.root.hidden = isOver || live.stock < 0;
    left.hidden = isOver;
    left.textContent = live.stock < 0 ? t("不限量", "Unlimited") : t(`剩余 ${live.stock} 份，共 ${live.units} 份`, `${live.stock} of ${live.units} left`);
    stock.show(live.stock, live.units, left.textContent);
    const looks = `${now} ${live.stock} ${Math.round(moment)}`;
    if (looks === drawn) return;
    drawn = looks;
    fill(state, now !== "OPEN" && !isOver && stateChip({ state: now, stock: live.stock }));
    word.textContent = isOver ? "" : isComing ? t("距开抢", "Opens in") : t("距结束", "Ends in");
    fill(time, isOver ? t("已结束", "Over") : countdown(moment, whileShown(), () => show(live)));
  }

  /** @param {unknown} error what is known is shown on */
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
  const minutes = Math.round(page.payWithinSeconds / 60);
  return h("section", { class: "card pad stack" }, h("h2", null, t("购买须知", "Good to know")),
    h("ul", { class: "rules" }, rulesOf(page.rules).map((rule) => h("li", null, rule))),
    h("p", { class: "small quiet" }, `${formatDateTime(page.beginTime)} – ${formatDateTime(page.endTime)}`, " · ",
      t(`抢到后${minutes}分钟内付款`, `pay within ${minutes} min`),
      page.minLevel > 0 && t(` · 需要会员${page.minLevel}级`, ` · for members of level ${page.minLevel}`)));
}

/** @param {NonNullable<SalePage["shop"]>} shop */
function seller(shop) {
  return h("a", { class: "card pad row", href: `#/shop/${shop.id}` }, icon("shop"),
    h("span", { class: "stack tight grow" }, h("strong", { class: "cut" }, shop.name),
      h("span", { class: "small quiet cut" }, [shop.area, shop.address].filter(Boolean).join(" · ")),
      shop.openHours && h("span", { class: "small quiet" }, shop.openHours)), icon("forward"));
}
