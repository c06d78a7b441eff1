// Shop types: names, icons and order.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { screenHeader } from "../../parts/screen-header.js";
import { button } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { picture } from "../../parts/picture.js";
import { showToast } from "../../parts/toast.js";
import { formSheet } from "../pieces/form.js";
import { listing } from "../pieces/listing.js";
import { alreadyCreatedText } from "../pieces/create-once.js";
import { createShopType } from "../pieces/new-shop.js";
import { numberValue } from "../pieces/number-value.js";
import { picturesField } from "../pieces/pictures-field.js";
import { table } from "../pieces/table.js";

/** @typedef {import("./shops.js").ShopType} ShopType */

/** All types fit on one page. */
const MOST = 1_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, signal, title } = context;
  title(t("店铺类型", "Categories"));
  const list = listing(context, {
    size: MOST,
    load: async () => {
      const rows = await get("/shop-type/list", { signal });
      return { rows, total: rows.length };
    },
    draw: (rows, reload) => table(t("店铺类型", "Categories"), columns(reload), rows),
    none: () => emptyState("list", t("还没有类型。", "No categories yet.")),
  });
  root.append(screenHeader(t("店铺类型", "Categories"), {
    home: "/shops", actions: [button(t("新增类型", "New category"), () => edit(undefined, list.reload), { icon: "plus", look: ["main"] })],
  }), list.root);
}

/**
 * @param {() => Promise<void>} reload
 * @returns {import("../pieces/table.js").Column<ShopType>[]}
 */
function columns(reload) {
  return [
    { title: t("类型", "Category"), look: "wide", cell: ({ name, icon }) => h("span", { class: "row" }, h("span", { class: "thumb small-thumb" }, picture(icon)), h("span", null, name)) },
    { title: t("编号", "Id"), look: "number", cell: ({ id }) => id },
    { title: t("排序", "Place"), look: "number", cell: ({ sort }) => sort },
    { title: t("操作", "Actions"), look: "acts", cell: (type) => button(t("修改", "Edit"), () => edit(type, reload)) },
  ];
}

/**
 * @param {ShopType | undefined} type undefined: a new type
 * @param {() => Promise<void>} reload
 */
function edit(type, reload) {
  const name = field(t("名称", "Name"), "input", { maxlength: 32, required: true, value: type?.name });
  const sort = field(t("排序（小的在前）", "Sort order, lowest first"), "input", { type: "number", step: 1, value: type?.sort, required: type?.sort !== undefined });
  const image = picturesField(t("图标", "Icon"), type?.icon ?? "", { most: 1 });
  return formSheet(type ? t("修改类型", "Edit category") : t("新增类型", "New category"), [
    { field: name, names: ["名称", "name"] },
    { field: sort, names: ["排序", "sort"] },
    { field: image, names: ["图标", "头像", "icon"] },
  ], t("保存", "Save"), async () => {
    const body = { name: name.input.value, icon: image.value(), sort: numberValue(sort.input) };
    const saved = t("类型已保存", "Category saved");
    if (type) {
      await call("PUT", `/shop-type/${type.id}`, { body });
      showToast(saved);
    } else showToast((await createShopType(body)).wasMade ? alreadyCreatedText() : saved);
    await reload();
  });
}
