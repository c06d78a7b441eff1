// Shops, to be found and changed.

import { get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { empty } from "../../parts/empty.js";
import { firstOf, picture } from "../../parts/picture.js";
import { stars } from "../../parts/stars.js";
import { filters } from "../pieces/filters.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { table } from "../pieces/table.js";

/**
 * A shop as the mall tells it.
 * @typedef {object} Shop
 * @property {number} id
 * @property {string} name
 * @property {number} typeId
 * @property {string} images
 * @property {string} area
 * @property {string} address
 * @property {number} x
 * @property {number} y
 * @property {number} [avgPrice] yuan
 * @property {string} openHours
 * @property {number} sold
 * @property {number} comments
 * @property {number} score
 */
/** @typedef {{id: number, name: string, icon: string, sort: number}} ShopType */

/** @param {import("../../core/router.js").Showing} showing */
export function open(showing) {
  const { root, at, signal, title } = showing;
  title(both("店铺", "Shops"));
  const list = listing(showing, {
    size: 10,
    load: async (current) => {
      const [rows, types] = await Promise.all([
        get("/shop/of/name", { query: { name: at.name, current }, signal }),
        get("/shop-type/list", { signal }),
      ]);
      return { rows: rows.map((/** @type {Shop} */ shop) => ({ shop, type: typeName(types, shop.typeId) })) };
    },
    draw: (rows) => table(both("店铺", "Shops"), columns(), rows),
    none: () => empty("shop", both("没有这样的店铺。", "No such shop.")),
  });
  root.append(heading(both("店铺", "Shops"), h("div", { class: "row wrap" },
    linkButton(both("店铺类型", "Kinds of shops"), "#/shop-types", { icon: "list" }),
    linkButton(both("新增店铺", "New shop"), "#/shops/new", { icon: "plus", look: ["main"] }))),
  filters(at, [{ name: "name", label: both("店名里有", "Name contains") }]), list.root);
}

/**
 * @param {ShopType[]} types
 * @param {number} id
 */
function typeName(types, id) {
  return types.find((type) => type.id === id)?.name ?? String(id);
}

/** @returns {import("../pieces/table.js").Column<{shop: Shop, type: string}>[]} */
function columns() {
  return [
    { title: both("店铺", "Shop"), look: "wide", cell: ({ shop }) => h("a", { class: "row", href: `#/shop/${shop.id}` },
      h("span", { class: "thumb small-thumb" }, picture(firstOf(shop.images))), h("span", null, shop.name)) },
    { title: both("编号", "Id"), look: "number", cell: ({ shop }) => shop.id },
    { title: both("类型", "Kind"), cell: ({ type }) => type },
    { title: both("商圈", "Area"), cell: ({ shop }) => shop.area },
    { title: both("地址", "Address"), look: "wide", cell: ({ shop }) => shop.address },
    { title: both("评分", "Score"), cell: ({ shop }) => (shop.score > 0 ? stars(shop.score) : "—") },
    { title: both("人均", "A head"), look: "number", cell: ({ shop }) => (shop.avgPrice === undefined ? "—" : `¥${shop.avgPrice}`) },
    { title: both("销量", "Sold"), look: "number", cell: ({ shop }) => shop.sold.toLocaleString() },
  ];
}
