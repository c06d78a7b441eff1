// The list of open and upcoming sales, refreshed periodically.

import { read } from "../../core/api.js";
import { revalidate, staleWhileRevalidate } from "../../core/cache.js";
import { repeatWhileVisible, fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { isSameMoment, momentAfter } from "../../core/server-time.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { keepFocus } from "../../parts/keep-focus.js";
import { saleCard } from "../cards/sale.js";

/** @typedef {import("../cards/sale.js").Sale} Sale */
/** @typedef {import("../../core/api.js").ApiResponse} Answer */

const REFRESH_EVERY_MS = 15_000;
const CACHE_KEY = "sales on";
/** Fields that differ between any two responses. */
const VOLATILE_FIELDS = ["serverTime", "beginsInMs", "endsInMs"];

/**
 * @param {HTMLElement} list
 * @param {number} limit
 * @param {import("../../core/router.js").ScreenContext} context
 */
export function currentSales(list, limit, { signal, restoreScroll }) {
  const nextSignal = signalSequence(signal);
  const replaceKeepingFocus = keepFocus(list);
  /** State of the rendered list. */
  let renderedState = "";
  /** @type {import("../../core/server-time.js").Moment | undefined} end of the first sale */
  let firstEnd;
  load();
  // The connection bar reports failures.
  repeatWhileVisible(REFRESH_EVERY_MS, signal, () => revalidate(CACHE_KEY, fetchSales, render));

  async function load() {
    try {
      await staleWhileRevalidate(CACHE_KEY, fetchSales, render);
      restoreScroll();
    } catch (error) {
      if (!signal.aborted) fill(list, h("li", { class: "all" }, errorState(error, load)));
    }
  }

  function fetchSales() {
    return read("/sale/on", { signal });
  }

  /** @param {Answer} answer */
  function render(answer) {
    /** @type {Sale[]} */
    const sales = answer.data.slice(0, limit);
    const nextState = JSON.stringify(sales, (name, value) => (VOLATILE_FIELDS.includes(name) ? undefined : value)) + t("zh", "en");
    const nextEnd = sales[0] && momentAfter(sales[0].endsInMs, answer);
    if (signal.aborted || (nextState === renderedState && isSameMoment(firstEnd, nextEnd))) return;
    [renderedState, firstEnd] = [nextState, nextEnd];
    const cardsSignal = nextSignal();
    replaceKeepingFocus(() => fill(list, sales.length > 0 ? sales.map((sale) => h("li", null, saleCard(sale, answer, cardsSignal)))
      : h("li", { class: "all" }, emptyState("bolt", t("现在没有秒杀，晚点再来看看。", "No flash sales right now. Check back later.")))));
  }
}
