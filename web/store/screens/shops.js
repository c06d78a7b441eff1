// Shops of a kind, by distance, score or number of reviews, on and on.

import { get } from "../../core/api.js";
import { shown } from "../../core/copies.js";
import { fill, h, successive } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { readdress } from "../../core/router.js";
import { linkButton } from "../../parts/button.js";
import { choice } from "../../parts/choice.js";
import { empty } from "../../parts/empty.js";
import { byPage, endless } from "../../parts/endless.js";
import { skeletons } from "../../parts/skeleton.js";
import { shopCard } from "../cards/shop.js";
import { finder } from "../finder.js";
import { place, placeQuery } from "../place.js";

/** @typedef {import("../cards/shop.js").Shop} Shop */
/** @typedef {"distance" | "score" | "comments"} Sort */

/** What the mall answers on a page: of what is near, and of a kind. */
const A_PAGE = { near: 10, kind: 5 };
/** How far the mall looks for what is near, in metres. */
const FAR = 100_000;

/** @param {import("../../core/router.js").Showing} showing */
export async function open({ root, at, signal, title, settled }) {
  title(both("店铺", "Shops"));
  let type = at.type ?? "0";
  /** @type {Sort} */
  let sort = at.sort === "score" || at.sort === "comments" || at.sort === "distance" ? at.sort : place() ? "distance" : "score";
  const types = h("div", { class: "shops-types" }, skeletons(1, "2.75rem"));
  const list = h("div", null);
  const ofList = successive(signal);
  root.append(h("h1", { class: "unseen" }, both("店铺", "Shops")), finder(), h("div", { class: "stack shops-choices" }, types, sorts()), list);
  show();
  settled();
  await shown("types", () => get("/shop-type/list", { signal }), (/** @type {import("../cards/shop.js").ShopType[]} */ all) => {
    const options = [{ value: "0", text: both("全部", "All") }, ...all.map((one) => ({ value: String(one.id), text: one.name }))];
    fill(types, choice(both("店铺类型", "Kind of shops"), options, type, (value) => {
      type = value;
      changed();
    }));
    types.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: "nearest", inline: "center" });
  });

  function sorts() {
    /** @type {{value: Sort, text: string}[]} */
    const options = [{ value: "distance", text: both("离我最近", "Nearest") }, { value: "score", text: both("评分最高", "Best liked") },
      { value: "comments", text: both("评价最多", "Most reviewed") }];
    return choice(both("排序", "Sorted by"), options, sort, (value) => {
      sort = value;
      changed();
    });
  }

  function changed() {
    readdress(`/shops?type=${type}&sort=${sort}`);
    show();
  }

  function show() {
    const isNear = sort === "distance";
    if (isNear && !place()) {
      fill(list, empty("place", both("选一个位置，才知道哪些店离你最近。", "Set a place to see which shops are near it."),
        linkButton(both("选位置", "Set place"), "#/place", { look: ["main"] })));
      return;
    }
    const whileListed = ofList();
    const typeId = type === "0" ? undefined : type;
    const load = isNear
      ? byPage(A_PAGE.near, (current) => get("/shop/near", { query: { ...placeQuery(), radius: FAR, typeId, current }, signal: whileListed }))
      : byPage(A_PAGE.kind, (current) => get("/shop/of/type", { query: { ...placeQuery(), typeId, sortBy: sort, current }, signal: whileListed }));
    fill(list, h("h2", { class: "unseen" }, both("店铺列表", "The list")), !isNear && place() && h("p", { class: "small quiet shops-near" }, both("5公里以内", "Within 5 km")), endless({
      name: `shops ${type} ${sort} ${JSON.stringify(placeQuery())}`, look: "shops", height: "6.6rem", signal: whileListed, load,
      draw: shopCard, key: (/** @type {Shop} */ shop) => shop.id,
      none: () => empty("shop", place() ? both("附近没有这样的店。", "No such shop is near.") : both("还没有这样的店。", "There is no such shop yet."),
        place() && linkButton(both("换个位置", "Another place"), "#/place")),
    }).root);
  }
}
