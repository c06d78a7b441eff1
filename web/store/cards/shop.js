// A card of a shop.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { firstPicture, picture } from "../../parts/picture.js";
import { formatYuan } from "../../parts/price.js";
import { stars } from "../../parts/stars.js";

/**
 * @typedef {object} Shop
 * @property {number} id
 * @property {string} name
 * @property {number} typeId
 * @property {string} images comma-separated
 * @property {string} area
 * @property {string} address
 * @property {number} x
 * @property {number} y
 * @property {number} avgPrice in yuan
 * @property {number} sold
 * @property {number} comments
 * @property {number} score stars times ten
 * @property {string} openHours
 * @property {number} [distance] metres from the requested place
 */

/** @typedef {{id: number, name: string, icon: string}} ShopType a category of shops */

/** @param {Shop} shop */
export function shopCard(shop) {
  return h("a", { class: "card shop-card", href: `#/shop/${shop.id}` },
    h("span", { class: "shop-card-picture" }, picture(firstPicture(shop.images))),
    h("span", { class: "stack tight grow" },
      h("h3", { class: "cut" }, shop.name),
      h("span", { class: "row wrap small" }, stars(shop.score),
        shop.comments > 0 && h("span", { class: "quiet" }, t(`${shop.comments}条评价`, `${shop.comments} reviews`)),
        shop.avgPrice > 0 && h("span", { class: "quiet" }, t(`人均 ${formatYuan(shop.avgPrice * 100)}`, `${formatYuan(shop.avgPrice * 100)} per person`))),
      h("span", { class: "row apart small quiet" },
        h("span", { class: "cut" }, shop.area || shop.address),
        shop.distance !== undefined && h("span", { class: "number" }, distanceText(shop.distance)))));
}

/** @param {number} metres */
export function distanceText(metres) {
  return metres < 1_000 ? `${Math.round(metres / 10) * 10} m` : `${(metres / 1_000).toFixed(1)} km`;
}
