// A shop: pictures, facts, vouchers and reviews.

import { get } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { screenHeader } from "../../parts/screen-header.js";
import { linkButton } from "../../parts/button.js";
import { gallery } from "../../parts/gallery.js";
import { icon } from "../../parts/icons.js";
import { pictureList, picture } from "../../parts/picture.js";
import { formatYuan } from "../../parts/price.js";
import { skeletons } from "../../parts/skeleton.js";
import { stars } from "../../parts/stars.js";
import { reviewSection } from "../reviews/reviews.js";
import { readAreas } from "../areas.js";
import { smallMap } from "../map.js";
import { place } from "../place.js";
import { shopShelf } from "../shop-shelf.js";

/** @typedef {import("../cards/shop.js").Shop} Shop */

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  title(t("店铺", "Shop"));
  const [pictures, facts, vouchers] = [h("div", { class: "front-pictures" }, skeletons(1, "100%")), h("div", { class: "stack" }, skeletons(3, "3rem")), h("div", { class: "stack" }, skeletons(3, "6.5rem"))];
  root.append(screenHeader(t("店铺", "Shop"), { home: "/shops" }), h("div", { class: "two" }, h("div", { class: "stack" }, pictures, facts),
    h("section", { class: "side", "aria-label": t("优惠券", "Vouchers") }, vouchers)), reviewSection(Number(params.id), signal));
  shopShelf(vouchers, params.id, signal);
  await staleWhileRevalidate(`shop ${params.id}`, () => get(`/shop/${params.id}`, { signal }), (/** @type {Shop} */ shop) => {
    title(shop.name);
    const paths = pictureList(shop.images);
    fill(pictures, paths.length > 0 ? gallery(paths, shop.name) : picture(undefined));
    fill(facts, shopFacts(shop));
    restoreScroll();
  });

  /** @param {Shop} shop */
  function shopFacts(shop) {
    const map = h("div", { class: "shop-map" });
    readAreas(signal).then((areas) => fill(map, smallMap(shop, areas, place())), () => {});
    return [
      h("div", { class: "stack tight" }, h("h2", { class: "large-title" }, shop.name),
        h("div", { class: "row wrap small" }, stars(shop.score), shop.comments > 0 && h("span", { class: "quiet" }, t(`${shop.comments}条评价`, `${shop.comments} reviews`)),
          shop.avgPrice > 0 && h("span", { class: "quiet" }, t(`人均 ${formatYuan(shop.avgPrice * 100)}`, `${formatYuan(shop.avgPrice * 100)} per person`)),
          shop.sold > 0 && h("span", { class: "quiet" }, t(`已售 ${shop.sold}`, `${shop.sold} sold`)))),
      h("div", { class: "card shop-facts" },
        shop.openHours && h("p", { class: "row" }, icon("clock"), h("span", null, h("span", { class: "unseen" }, t("营业时间 ", "Open ")), shop.openHours)),
        h("p", { class: "row" }, icon("place"), h("span", { class: "grow" }, h("span", { class: "unseen" }, t("地址 ", "Address ")), [shop.area, shop.address].filter(Boolean).join(" · "))),
        map),
      !isKiosk && h("div", null, linkButton(t("写一篇探店笔记", "Write a note about this shop"), `#/write?shop=${shop.id}`, { icon: "edit" })),
    ];
  }
}
