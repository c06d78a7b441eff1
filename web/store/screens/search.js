// Search of shops by name, while typing.

import { get } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { replaceAddress } from "../../core/router.js";
import { screenHeader } from "../../parts/screen-header.js";
import { button, linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { byPage, infiniteList } from "../../parts/infinite-list.js";
import { icon } from "../../parts/icons.js";
import { shopCard } from "../cards/shop.js";
import { clearSearches, addSearch, recentSearches } from "../search-history.js";

const A_PAGE = 10;
/** Pause in typing before the search starts. */
const PAUSE_MS = 250;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title, restoreScroll }) {
  title(t("搜索店铺", "Search shops"));
  const found = h("div", { "aria-live": "polite" });
  const ofList = signalSequence(signal);
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  const input = h("input", {
    class: "input", type: "search", name: "q", value: params.q ?? "", enterkeyhint: "search", autocomplete: "off",
    "aria-label": t("店名", "Shop name"), placeholder: t("店名", "Shop name"),
    oninput: (/** @type {InputEvent} */ event) => event.isComposing || scheduleSearch(), oncompositionend: () => scheduleSearch(),
  });
  const form = h("form", { role: "search", class: "search-box", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    addSearch(input.value.trim());
    show();
  } }, icon("search"), input);
  root.append(screenHeader(t("搜索店铺", "Search shops")), form, found);
  show();
  restoreScroll();
  if (!params.q) input.focus();

  function scheduleSearch() {
    clearTimeout(timer);
    timer = setTimeout(show, PAUSE_MS);
  }

  function show() {
    clearTimeout(timer);
    const name = input.value.trim();
    replaceAddress(name ? `/search?q=${encodeURIComponent(name)}` : "/search");
    const listSignal = ofList();
    if (!name) {
      fill(found, recentList(), typeList(listSignal));
      return;
    }
    const list = infiniteList({
      name: `search ${name}`, look: "shops", height: "6.6rem", signal: listSignal, draw: shopCard,
      key: (/** @type {import("../cards/shop.js").Shop} */ shop) => shop.id,
      load: byPage(A_PAGE, (current) => get("/shop/of/name", { query: { name, current }, signal: listSignal })),
      none: () => emptyState("search", t(`没有找到“${name}”。`, `No shops match “${name}”.`)),
    });
    // Opening a result counts as a completed search.
    list.root.addEventListener("click", () => addSearch(name), { signal: listSignal });
    fill(found, h("h2", { class: "unseen" }, t("搜索结果", "Search results")), list.root);
  }

  /**
   * Shop types as an alternative to a name.
   * @param {AbortSignal} listSignal
   */
  function typeList(listSignal) {
    const list = h("ul", { class: "row wrap" });
    staleWhileRevalidate("types", () => get("/shop-type/list", { signal: listSignal }), (/** @type {import("../cards/shop.js").ShopType[]} */ all) =>
      fill(list, all.map(({ id, name }) => h("li", null, linkButton(name, `#/shops?type=${id}`))))).catch(() => {});
    return h("section", null, h("div", { class: "head" }, h("h2", null, t("按类型逛", "By category"))), list);
  }

  function recentList() {
    const names = recentSearches();
    return names.length > 0 && h("section", null,
      h("div", { class: "head" }, h("h2", null, t("最近搜过", "Recent searches")),
        button(t("清除", "Clear"), () => {
          clearSearches();
          show();
          input.focus();
        }, { look: ["bare"] })),
      h("ul", { class: "row wrap" }, names.map((name) => h("li", null, button(name, () => {
        input.value = name;
        show();
      })))));
  }
}
