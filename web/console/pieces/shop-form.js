// The form for a shop, new or existing.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { field } from "../../parts/field.js";
import { form } from "./form.js";
import { numberValue } from "./number-value.js";
import { picturesField } from "./pictures-field.js";

/** Maximum pictures of a shop, limited by the size of the stored field. */
const PICTURES = 9;

/**
 * @param {Partial<import("../screens/shops.js").Shop>} shop
 * @param {import("../screens/shops.js").ShopType[]} types
 * @param {string} text of the button
 * @param {(body: {name: string} & Record<string, unknown>) => Promise<unknown>} save
 * @param {AbortSignal} signal
 */
export function shopForm(shop, types, text, save, signal) {
  const name = field(t("名称", "Name"), "input", { maxlength: 128, required: true, value: shop.name });
  const type = field(t("类型", "Category"), "select", {}, types.map(({ id, name: text }) => h("option", { value: id, selected: id === shop.typeId }, text)));
  const area = field(t("商圈", "Area"), "input", { maxlength: 128, value: shop.area });
  const address = field(t("地址", "Address"), "input", { maxlength: 255, value: shop.address });
  const hours = field(t("营业时间", "Opening hours"), "input", { maxlength: 32, value: shop.openHours, placeholder: "10:00-22:00" });
  const avg = field(t("人均（元）", "Average price (yuan)"), "input", { type: "number", min: 0, step: 1, value: shop.avgPrice, required: shop.avgPrice !== undefined });
  const x = field(t("经度", "Longitude"), "input", { type: "number", step: "any", required: true, value: shop.x });
  const y = field(t("纬度", "Latitude"), "input", { type: "number", step: "any", required: true, value: shop.y });
  const images = picturesField(t("图片（第一张是封面）", "Pictures (the first is the cover)"), shop.images ?? "", { most: PICTURES, signal });
  images.root.classList.add("all");
  return form([
    { field: name, names: ["名称", "name"] },
    { field: type, names: ["店铺类型编号", "typeId"] },
    { field: area, names: ["商圈", "area"] },
    { field: address, names: ["地址", "address"] },
    { field: hours, names: ["营业时间", "openHours"] },
    { field: avg, names: ["人均价格", "avgPrice"] },
    { field: x, names: ["经度", "x"] },
    { field: y, names: ["纬度", "y"] },
    { field: images, names: ["图片", "images"] },
  ], text, () => save({
    name: name.input.value, typeId: Number(type.input.value), area: area.input.value, address: address.input.value,
    openHours: hours.input.value, avgPrice: numberValue(avg.input), x: numberValue(x.input), y: numberValue(y.input), images: images.value(),
  }), { keeps: true, inside: [h("div", { class: "fields" }, [name, type, area, address, hours, avg, x, y, images].map(({ root }) => root))] });
}
