// The home screen: shop types, current sales, shops nearby and popular notes.

import { get } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { pictureUrl } from "../../parts/picture.js";
import { skeletons } from "../../parts/skeleton.js";
import { noteCard } from "../cards/note.js";
import { shopCard } from "../cards/shop.js";
import { searchBar } from "../search-bar.js";
import { place, placeQuery } from "../place.js";
import { currentSales } from "../sale/current-sales.js";

const SALES = 6;
/** Fills two rows of three, or three rows of two. */
const SHOPS = 6;
const NOTES = 8;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, signal, title, restoreScroll } = context;
  title(t("首页", "Home"));
  const types = section(root, t("店铺类型", "Categories"), "types", skeletons(10, "auto"), { unseen: true });
  const sales = section(root, t("限时秒杀", "Flash sales"), "rail", skeletons(3, "auto"), { more: "#/sales" });
  const shops = section(root, place() ? t("附近好店", "Near you") : t("口碑好店", "Top-rated shops"), "shops",
    skeletons(SHOPS, "6.6rem"), { more: "#/shops" });
  const notes = section(root, t("热门笔记", "Popular notes"), "notes", skeletons(4, "15rem"), { more: "#/notes" });
  root.prepend(h("h1", { class: "unseen" }, "mallbox"), searchBar());

  loadSection(types, "types", () => get("/shop-type/list", { signal }), (/** @type {ShopType[]} */ list) => list.slice(0, 10).map(typeTile));
  const pageOfShops = (/** @type {number} */ current) =>
    get("/shop/of/type", { query: { current, sortBy: place() ? undefined : "score", ...placeQuery() }, signal });
  loadSection(shops, `home shops ${JSON.stringify(place())}`, async () => (await Promise.all([1, 2].map(pageOfShops))).flat(),
    (/** @type {import("../cards/shop.js").Shop[]} */ list) => list.slice(0, SHOPS).map(shopCard));
  loadSection(notes, "home notes", () => get("/blog/hot", { query: { current: 1 }, signal }),
    (/** @type {import("../cards/note.js").Note[]} */ list) => list.slice(0, NOTES).map(noteCard));
  currentSales(sales, SALES, context);

  /**
   * @template T
   * @param {HTMLElement} list
   * @param {string} name
   * @param {() => Promise<T>} load
   * @param {(value: T) => Node[]} render
   */
  async function loadSection(list, name, load, render) {
    try {
      await staleWhileRevalidate(name, load, (value) => {
        const items = render(value);
        fill(list, items.length ? items.map((item) => h("li", null, item)) : h("li", { class: "all" }, emptyState("shop", t("这里还什么都没有。", "Nothing here yet."))));
        restoreScroll();
      });
    } catch (error) {
      if (!signal.aborted) fill(list, h("li", { class: "all" }, errorState(error, () => loadSection(list, name, load, render))));
    }
  }
}

/** @typedef {import("../cards/shop.js").ShopType} ShopType */

/** @param {ShopType} type */
function typeTile(type) {
  return h("a", { class: "type", href: `#/shops?type=${type.id}` },
    h("img", { src: pictureUrl(type.icon), alt: "", width: 44, height: 44 }), h("span", { class: "cut" }, type.name));
}

/**
 * @param {HTMLElement} root
 * @param {string} title
 * @param {string} className
 * @param {Node[]} placeholders
 * @param {{more?: string, unseen?: boolean}} [options]
 */
function section(root, title, className, placeholders, { more, unseen = false } = {}) {
  const list = h("ul", { class: className }, placeholders.map((box) => h("li", null, box)));
  root.append(h("section", { "aria-label": title },
    h("div", { class: unseen ? "unseen" : "head" }, h("h2", null, title), more && h("a", { href: more }, t("更多", "More"))), list));
  return list;
}
