// The reviews of a shop: numbers, filters, and a list without gaps.

import { get, read } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { choice } from "../../parts/choice.js";
import { emptyState } from "../../parts/empty-state.js";
import { infiniteList } from "../../parts/infinite-list.js";
import { reviewItem } from "./review.js";

/** @typedef {import("./review.js").Review} Review */
/** @typedef {{score: number, total: number, reviews: number, stars: number[], pictures: number, folded: number}} Summary */
/** @typedef {"newest" | "best"} Sort */
/** @typedef {"all" | "pictures" | "1" | "2" | "3" | "4" | "5"} Only */

/** Reviews per response of the server. */
const PAGE = 10;

/**
 * @param {number} shop
 * @param {AbortSignal} signal
 */
export function reviewSection(shop, signal) {
  const numbers = h("div", { class: "stack" });
  const list = h("div", { class: "stack" });
  const nextSignal = signalSequence(signal);
  /** @type {Sort} */
  let sort = "newest";
  /** @type {Only} */
  let only = "all";
  const root = h("section", { class: "stack reviews", "aria-labelledby": "reviews-title" }, h("h2", { id: "reviews-title" }, t("评价", "Reviews")), numbers, list);
  refresh();
  showList();
  return root;

  function refresh() {
    // The list below reports a failure.
    staleWhileRevalidate(`reviews ${shop} numbers`, () => get("/remark/summary", { query: { itemId: shop }, signal }), showNumbers).catch(() => {});
  }

  /** @param {Summary} summary */
  function showNumbers(summary) {
    const most = Math.max(1, ...summary.stars);
    fill(numbers, summary.reviews > 0 && [
      h("dl", { class: "histogram small" }, [5, 4, 3, 2, 1].map((number) => {
        const count = summary.stars[number - 1];
        const bar = h("span");
        bar.style.inlineSize = `${(count / most) * 100}%`;
        return h("div", null, h("dt", null, t(`${number}星`, `${number} ★`)), h("dd", null, h("span", { class: "bar", "aria-hidden": "true" }, bar), h("span", { class: "number" }, count)));
      })),
      filterBar(summary),
    ], foldedButton(summary.folded));
  }

  /** @param {Summary} summary */
  function filterBar(summary) {
    /** @type {{value: Only, text: string}[]} */
    const kinds = [{ value: "all", text: t(`全部 ${summary.reviews}`, `All ${summary.reviews}`) }];
    if (summary.pictures > 0) kinds.push({ value: "pictures", text: t(`有图 ${summary.pictures}`, `With pictures ${summary.pictures}`) });
    for (const number of /** @type {("5" | "4" | "3" | "2" | "1")[]} */ (["5", "4", "3", "2", "1"])) {
      const count = summary.stars[Number(number) - 1];
      if (count > 0) kinds.push({ value: number, text: t(`${number}星 ${count}`, `${number} ★ ${count}`) });
    }
    /** @type {{value: Sort, text: string}[]} */
    const sorts = [{ value: "newest", text: t("最新", "Newest") }, { value: "best", text: t("最有用", "Most helpful") }];
    return h("div", { class: "row wrap" },
      choice(t("评价的排序", "Order of reviews"), sorts, sort, (value) => {
        sort = value;
        showList();
      }),
      choice(t("筛选评价", "Filter of reviews"), kinds, only, (value) => {
        only = value;
        showList();
      }));
  }

  /** @param {number} count */
  function foldedButton(count) {
    if (count === 0) return false;
    const place = h("div", { class: "stack" }, button(t(`查看 ${count} 条被折叠的评价`, `Show ${count} folded reviews`), () => {
      fill(place, h("h3", { class: "quiet" }, t("被折叠的评价", "Folded reviews")), reviewList("folded", { folded: true }, signal));
    }, { look: ["bare"] }));
    return place;
  }

  function showList() {
    const query = { sort, pictures: only === "pictures" || undefined, stars: /\d/.test(only) ? only : undefined };
    fill(list, reviewList(`${sort} ${only}`, query, nextSignal()));
  }

  /**
   * @param {string} name
   * @param {Record<string, unknown>} query
   * @param {AbortSignal} listSignal
   */
  function reviewList(name, query, listSignal) {
    const made = infiniteList({
      name: `reviews ${shop} ${name}`, look: "stack", height: "8rem", signal: listSignal, key: (/** @type {Review} */ review) => review.id,
      load: async (/** @type {string | undefined} */ after) => {
        const { data: items } = await read("/remark", { query: { itemId: shop, ...query, after }, signal: listSignal });
        return { items, next: items.length < PAGE ? undefined : items[items.length - 1].cursor };
      },
      draw: (review) => reviewItem(review, {
        onRemoved: () => {
          made.drop(review.id);
          refresh();
        },
      }),
      none: () => emptyState("comment", t("还没有这样的评价。使用过的订单可以评价。", "No such reviews yet. Used orders can be reviewed.")),
    });
    return made.root;
  }
}
