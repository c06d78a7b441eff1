// The attract loop: offers in large pictures, one after the other, until somebody touches the screen.

import { h, repeatWhileVisible, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { countdown } from "../../parts/countdown.js";
import { picture } from "../../parts/picture.js";
import { priceWithDiscount } from "../../parts/price.js";
import { readOffers } from "./offers.js";

/** Time that an offer stays. */
const SLIDE_MS = 8_000;
/** Offers are read again after this time; on failure, the last ones stay. */
const READ_EVERY_MS = 60_000;

/** @typedef {import("./offers.js").Offer} Offer */

/** Whether the loop is on the screen. */
let isOpen = false;

/**
 * Opens the loop over the page. A touch closes it without pressing what lies below.
 * @returns {void}
 */
export function openAttractLoop() {
  if (isOpen) return;
  isOpen = true;
  const closed = new AbortController();
  const slide = h("div", { class: "attract-slide" }, welcome());
  // Nobody has chosen a language yet.
  const hint = h("span", { class: "attract-hint" }, h("span", { lang: "zh-CN" }, "点一下屏幕开始"), h("span", { lang: "en" }, "Tap to start"));
  const dialog = h("dialog", { class: "attract", "aria-label": t("欢迎光临，点一下开始", "Welcome, tap to start") },
    h("button", { class: "attract-start", type: "button", onclick: () => dialog.close() }, slide, hint));
  dialog.addEventListener("close", () => {
    isOpen = false;
    closed.abort();
    dialog.remove();
  });
  addEventListener("hashchange", () => dialog.close(), { signal: closed.signal });
  document.body.append(dialog);
  dialog.showModal();
  run(slide, closed.signal);
}

/**
 * @param {HTMLElement} slide
 * @param {AbortSignal} signal
 */
function run(slide, signal) {
  /** @type {Offer[]} */
  let offers = [];
  let next = 0;
  let readAt = -Infinity;
  const nextSignal = signalSequence(signal);
  repeatWhileVisible(SLIDE_MS, signal, turn);
  turn();

  async function turn() {
    if (performance.now() - readAt >= READ_EVERY_MS) {
      readAt = performance.now();
      offers = await readOffers(signal).catch(() => offers);
    }
    if (signal.aborted || offers.length === 0) return;
    const offer = offers[next % offers.length];
    next += 1;
    slide.replaceChildren(draw(offer, nextSignal()));
  }
}

function welcome() {
  return h("span", { class: "attract-offer" }, h("span", { class: "attract-text" }, h("span", { class: "attract-title" }, t("欢迎光临", "Welcome"))));
}

/**
 * @param {Offer} offer
 * @param {AbortSignal} signal
 */
function draw(offer, signal) {
  return h("span", { class: "attract-offer" },
    h("span", { class: "attract-picture" }, picture(offer.picture, "", { eager: true })),
    h("span", { class: "attract-text" },
      offer.shop && h("span", { class: "attract-shop" }, offer.shop),
      h("span", { class: "attract-title" }, offer.title),
      h("span", { class: "attract-price" }, priceWithDiscount(offer.payValue, offer.actualValue)),
      offer.until && h("span", { class: "attract-time" }, offer.until.isUpcoming ? t("距开抢", "Opens in") : t("距结束", "Ends in"), " ", countdown(offer.until.moment, signal))));
}
