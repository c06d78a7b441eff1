// The sales that are open or will open, looked at again and again.

import { read } from "../../core/api.js";
import { renewed, shown } from "../../core/copies.js";
import { every, fill, h, successive } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { isSameMoment, momentIn } from "../../core/moments.js";
import { empty, failure } from "../../parts/empty.js";
import { samePlace } from "../../parts/same-place.js";
import { saleCard } from "../cards/sale.js";

/** @typedef {import("../cards/sale.js").Sale} Sale */
/** @typedef {import("../../core/api.js").Answer} Answer */

const AGAIN_MS = 15_000;
const NAME = "sales on";
/** What is another number in each answer, and nothing new. */
const PASSING = ["serverTime", "beginsInMs", "endsInMs"];

/**
 * @param {HTMLElement} list
 * @param {number} most
 * @param {import("../../core/router.js").Showing} showing
 */
export function salesOn(list, most, { signal, settled }) {
  const ofCards = successive(signal);
  const redraw = samePlace(list);
  /** As it is drawn. */
  let looks = "";
  /** @type {import("../../core/moments.js").Moment | undefined} the end of the first */
  let end;
  look();
  // The bar above says if the mall does not answer.
  every(AGAIN_MS, signal, () => renewed(NAME, ask, draw));

  async function look() {
    try {
      await shown(NAME, ask, draw);
      settled();
    } catch (error) {
      if (!signal.aborted) fill(list, h("li", { class: "all" }, failure(error, look)));
    }
  }

  function ask() {
    return read("/sale/on", { signal });
  }

  /** @param {Answer} answer */
  function draw(answer) {
    /** @type {Sale[]} */
    const sales = answer.data.slice(0, most);
    const fresh = JSON.stringify(sales, (name, value) => (PASSING.includes(name) ? undefined : value)) + both("zh", "en");
    const ends = sales[0] && momentIn(sales[0].endsInMs, answer);
    if (signal.aborted || (fresh === looks && isSameMoment(end, ends))) return;
    [looks, end] = [fresh, ends];
    const whileShown = ofCards();
    redraw(() => fill(list, sales.length > 0 ? sales.map((sale) => h("li", null, saleCard(sale, answer, whileShown)))
      : h("li", { class: "all" }, empty("bolt", both("现在没有秒杀，晚点再来看看。", "No sale right now; look again later.")))));
  }
}
