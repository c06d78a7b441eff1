// Kinds of shops: what they are called, their drawings, and their order.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { head } from "../../parts/head.js";
import { button } from "../../parts/button.js";
import { empty } from "../../parts/empty.js";
import { field } from "../../parts/field.js";
import { picture } from "../../parts/picture.js";
import { say } from "../../parts/toast.js";
import { formSheet } from "../pieces/form.js";
import { listing } from "../pieces/listing.js";
import { wasMadeText } from "../pieces/made-once.js";
import { makeShopType } from "../pieces/new-shop.js";
import { numberIn } from "../pieces/number-in.js";
import { picturesField } from "../pieces/pictures-field.js";
import { table } from "../pieces/table.js";

/** @typedef {import("./shops.js").ShopType} ShopType */

/** All of them come at once. */
const MOST = 1_000;

/** @param {import("../../core/router.js").Showing} showing */
export function open(showing) {
  const { root, signal, title } = showing;
  title(both("店铺类型", "Kinds of shops"));
  const list = listing(showing, {
    size: MOST,
    load: async () => {
      const rows = await get("/shop-type/list", { signal });
      return { rows, total: rows.length };
    },
    draw: (rows, reload) => table(both("店铺类型", "Kinds of shops"), columns(reload), rows),
    none: () => empty("list", both("还没有类型。", "No kind yet.")),
  });
  root.append(head(both("店铺类型", "Kinds of shops"), {
    home: "/shops", actions: [button(both("新增类型", "New kind"), () => edit(undefined, list.reload), { icon: "plus", look: ["main"] })],
  }), list.root);
}

/**
 * @param {() => Promise<void>} reload
 * @returns {import("../pieces/table.js").Column<ShopType>[]}
 */
function columns(reload) {
  return [
    { title: both("类型", "Kind"), look: "wide", cell: ({ name, icon }) => h("span", { class: "row" }, h("span", { class: "thumb small-thumb" }, picture(icon)), h("span", null, name)) },
    { title: both("编号", "Id"), look: "number", cell: ({ id }) => id },
    { title: both("排序", "Place"), look: "number", cell: ({ sort }) => sort },
    { title: both("操作", "Do"), look: "acts", cell: (type) => button(both("修改", "Edit"), () => edit(type, reload)) },
  ];
}

/**
 * @param {ShopType | undefined} type a new one without
 * @param {() => Promise<void>} reload
 */
function edit(type, reload) {
  const name = field(both("名称", "Name"), "input", { maxlength: 32, required: true, value: type?.name });
  const sort = field(both("排序（小的在前）", "Place, the lowest first"), "input", { type: "number", step: 1, value: type?.sort, required: type?.sort !== undefined });
  const image = picturesField(both("图标", "Drawing"), type?.icon ?? "", { most: 1 });
  return formSheet(type ? both("修改类型", "Edit the kind") : both("新增类型", "New kind"), [
    { field: name, names: ["名称", "name"] },
    { field: sort, names: ["排序", "sort"] },
    { field: image, names: ["图标", "头像", "icon"] },
  ], both("保存", "Save"), async () => {
    const body = { name: name.input.value, icon: image.value(), sort: numberIn(sort.input) };
    const saved = both("类型已保存", "The kind is saved");
    if (type) {
      await call("PUT", `/shop-type/${type.id}`, { body });
      say(saved);
    } else say((await makeShopType(body)).wasMade ? wasMadeText() : saved);
    await reload();
  });
}
