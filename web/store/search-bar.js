// Links to the search and to the choice of a place, above lists of shops.

import { h } from "../core/dom.js";
import { isKiosk } from "../core/local-storage.js";
import { t } from "../core/language.js";
import { icon } from "../parts/icons.js";
import { place } from "./place.js";

export function searchBar() {
  const current = place();
  return h("div", { class: "row home-search" },
    // Kiosks have no keyboard.
    !isKiosk && h("a", { class: "search-link grow", href: "#/search" }, icon("search"), h("span", null, t("搜索店铺", "Search shops"))),
    h("a", { class: "place-link", href: "#/place" }, icon("place"),
      h("span", { class: "cut" }, current ? current.name || t("我的位置", "My location") : t("选位置", "Set location"))));
}
