// Search and editing of shops.

import { get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { firstPicture, picture } from "../../parts/picture.js";
import { stars } from "../../parts/stars.js";
import { filters } from "../pieces/filters.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { table } from "../pieces/table.js";

/**
 * A shop of the API.
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

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, params, signal, title } = context;
  title(t("店铺", "Shops"));
  const list = listing(context, {
    size: 10,
    load: async (current) => {
      const [rows, types] = await Promise.all([
        get("/shop/of/name", { query: { name: params.name, current }, signal }),
        get("/shop-type/list", { signal }),
      ]);
      return { rows: rows.map((/** @type {Shop} */ shop) => ({ shop, type: typeName(types, shop.typeId) })) };
    },
    draw: (rows) => table(t("店铺", "Shops"), columns(), rows),
    none: () => emptyState("shop", t("没有符合条件的店铺。", "No shops found.")),
  });
  root.append(heading(t("店铺", "Shops"), h("div", { class: "row wrap" },
    linkButton(t("店铺类型", "Categories"), "#/shop-types", { icon: "list" }),
    linkButton(t("新增店铺", "New shop"), "#/shops/new", { icon: "plus", look: ["main"] }))),
  filters(params, [{ name: "name", label: t("店名里有", "Name contains") }]), list.root);
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
    { title: t("店铺", "Shop"), look: "wide", cell: ({ shop }) => h("a", { class: "row", href: `#/shop/${shop.id}` },
      h("span", { class: "thumb small-thumb" }, picture(firstPicture(shop.images))), h("span", null, shop.name)) },
    { title: t("编号", "Id"), look: "number", cell: ({ shop }) => shop.id },
    { title: t("类型", "Category"), cell: ({ type }) => type },
    { title: t("商圈", "Area"), cell: ({ shop }) => shop.area },
    { title: t("地址", "Address"), look: "wide", cell: ({ shop }) => shop.address },
    { title: t("评分", "Score"), cell: ({ shop }) => (shop.score > 0 ? stars(shop.score) : "—") },
    { title: t("人均", "Average price"), look: "number", cell: ({ shop }) => (shop.avgPrice === undefined ? "—" : `¥${shop.avgPrice}`) },
    { title: t("销量", "Sold"), look: "number", cell: ({ shop }) => shop.sold.toLocaleString() },
  ];
}
