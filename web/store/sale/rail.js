// The sales that are open or will open, looked at again and again.

import { read } from "../../core/api.js";
import { revalidate, staleWhileRevalidate } from "../../core/copies.js";
import { repeatWhileVisible, fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { isSameMoment, momentAfter } from "../../core/moments.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { keepFocus } from "../../parts/keep-focus.js";
import { saleCard } from "../cards/sale.js";

/** @typedef {import("../cards/sale.js").Sale} Sale */
/** @typedef {import("../../core/api.js").ApiResponse} Answer */

const AGAIN_MS = 15_000;
const NAME = "sales on";
/** What is another number in each answer, and nothing new. */
const PASSING = ["serverTime", "beginsInMs", "endsInMs"];

/**
 * @param {HTMLElement} list
 * @param {number} most
 * @param {import("../../core/router.js").ScreenContext} context
 */
export function salesOn(list, most, { signal, restoreScroll }) {
  const ofCards = signalSequence(signal);
  const redraw = keepFocus(list);
  /** As it is drawn. */
  let looks = "";
  /** @type {import("../../core/moments.js").Moment | undefined} the end of the first */
  let end;
  look();
  // The bar above says if the mall does not answer.
  repeatWhileVisible(AGAIN_MS, signal, () => revalidate(NAME, ask, draw));

  async function look() {
    try {
      await staleWhileRevalidate(NAME, ask, draw);
      restoreScroll();
    } catch (error) {
      if (!signal.aborted) fill(list, h("li", { class: "all" }, errorState(error, look)));
    }
  }

  function ask() {
    return read("/sale/on", { signal });
  }

  /** @param {Answer} answer */
  function draw(answer) {
    /** @type {Sale[]} */
    const sales = answer.data.slice(0, most);
    const fresh = JSON.stringify(sales, (name, value) => (PASSING.includes(name) ? undefined : value)) + t("zh", "en");
    const ends = sales[0] && momentAfter(sales[0].endsInMs, answer);
    if (signal.aborted || (fresh === looks && isSameMoment(end, ends))) return;
    [looks, end] = [fresh, ends];
    const whileShown = ofCards();
    redraw(() => fill(list, sales.length > 0 ? sales.map((sale) => h("li", null, saleCard(sale, answer, whileShown)))
      : h("li", { class: "all" }, emptyState("bolt", t("现在没有秒杀，晚点再来看看。", "No sale right now; look again later.")))));
  }
}
