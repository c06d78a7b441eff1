// Shops of a type, sorted by distance, rating or number of reviews.

import { get } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { replaceAddress } from "../../core/router.js";
import { linkButton } from "../../parts/button.js";
import { choice } from "../../parts/choice.js";
import { emptyState } from "../../parts/empty-state.js";
import { byPage, infiniteList } from "../../parts/infinite-list.js";
import { skeletons } from "../../parts/skeleton.js";
import { shopCard } from "../cards/shop.js";
import { searchBar } from "../search-bar.js";
import { place, placeQuery } from "../place.js";

/** @typedef {import("../cards/shop.js").Shop} Shop */
/** @typedef {"distance" | "score" | "comments"} Sort */

/** Items per page of the API: for nearby shops and for shops of a type. */
const A_PAGE = { near: 10, kind: 5 };
/** Radius of the server's search for nearby shops, in metres. */
const FAR = 100_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  title(t("店铺", "Shops"));
  let type = params.type ?? "0";
  /** @type {Sort} */
  let sort = params.sort === "score" || params.sort === "comments" || params.sort === "distance" ? params.sort : place() ? "distance" : "score";
  const types = h("div", { class: "shops-types" }, skeletons(1, "2.75rem"));
  const list = h("div", null);
  const ofList = signalSequence(signal);
  root.append(h("h1", { class: "unseen" }, t("店铺", "Shops")), searchBar(), h("div", { class: "stack shops-choices" }, types, sorts()), list);
  show();
  restoreScroll();
  await staleWhileRevalidate("types", () => get("/shop-type/list", { signal }), (/** @type {import("../cards/shop.js").ShopType[]} */ all) => {
    const options = [{ value: "0", text: t("全部", "All") }, ...all.map((one) => ({ value: String(one.id), text: one.name }))];
    fill(types, choice(t("店铺类型", "Category"), options, type, (value) => {
      type = value;
      changed();
    }));
    types.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: "nearest", inline: "center" });
  });

  function sorts() {
    /** @type {{value: Sort, text: string}[]} */
    const options = [{ value: "distance", text: t("离我最近", "Nearest") }, { value: "score", text: t("评分最高", "Top rated") },
      { value: "comments", text: t("评价最多", "Most reviewed") }];
    return choice(t("排序", "Sort by"), options, sort, (value) => {
      sort = value;
      changed();
    });
  }

  function changed() {
    replaceAddress(`/shops?type=${type}&sort=${sort}`);
    show();
  }

  function show() {
    const isNear = sort === "distance";
    if (isNear && !place()) {
      fill(list, emptyState("place", t("选择位置，查看附近的店铺。", "Set a location to see shops nearby."),
        linkButton(t("选位置", "Set location"), "#/place", { look: ["main"] })));
      return;
    }
    const whileListed = ofList();
    const typeId = type === "0" ? undefined : type;
    const load = isNear
      ? byPage(A_PAGE.near, (current) => get("/shop/near", { query: { ...placeQuery(), radius: FAR, typeId, current }, signal: whileListed }))
      : byPage(A_PAGE.kind, (current) => get("/shop/of/type", { query: { ...placeQuery(), typeId, sortBy: sort, current }, signal: whileListed }));
    fill(list, h("h2", { class: "unseen" }, t("店铺列表", "Shop list")), !isNear && place() && h("p", { class: "small quiet shops-near" }, t("5公里以内", "Within 5 km")), infiniteList({
      name: `shops ${type} ${sort} ${JSON.stringify(placeQuery())}`, look: "shops", height: "6.6rem", signal: whileListed, load,
      draw: shopCard, key: (/** @type {Shop} */ shop) => shop.id,
      none: () => emptyState("shop", place() ? t("附近没有符合条件的店铺。", "No such shops nearby.") : t("还没有符合条件的店铺。", "No such shops yet."),
        place() && linkButton(t("换个位置", "Change location"), "#/place")),
    }).root);
  }
}
