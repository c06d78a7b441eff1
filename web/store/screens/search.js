// Shops by name, while one types.

import { get } from "../../core/api.js";
import { shown } from "../../core/copies.js";
import { fill, h, successive } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { readdress } from "../../core/router.js";
import { head } from "../../parts/head.js";
import { button, linkButton } from "../../parts/button.js";
import { empty } from "../../parts/empty.js";
import { byPage, endless } from "../../parts/endless.js";
import { icon } from "../../parts/icons.js";
import { shopCard } from "../cards/shop.js";
import { forgetSearches, keepSearch, searches } from "../searches.js";

const A_PAGE = 10;
/** How long somebody pauses who has typed what they look for. */
const PAUSE_MS = 250;

/** @param {import("../../core/router.js").Showing} showing */
export function open({ root, at, signal, title, settled }) {
  title(both("搜索店铺", "Search shops"));
  const found = h("div", { "aria-live": "polite" });
  const ofList = successive(signal);
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  const input = h("input", {
    class: "input", type: "search", name: "q", value: at.q ?? "", enterkeyhint: "search", autocomplete: "off",
    "aria-label": both("店名", "Name of a shop"), placeholder: both("店名", "Name of a shop"),
    oninput: (/** @type {InputEvent} */ event) => event.isComposing || soon(), oncompositionend: () => soon(),
  });
  const form = h("form", { role: "search", class: "search-box", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    keepSearch(input.value.trim());
    show();
  } }, icon("search"), input);
  root.append(head(both("搜索店铺", "Search shops")), form, found);
  show();
  settled();
  if (!at.q) input.focus();

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(show, PAUSE_MS);
  }

  function show() {
    clearTimeout(timer);
    const name = input.value.trim();
    readdress(name ? `/search?q=${encodeURIComponent(name)}` : "/search");
    const whileListed = ofList();
    if (!name) {
      fill(found, recent(), kinds(whileListed));
      return;
    }
    const list = endless({
      name: `search ${name}`, look: "shops", height: "6.6rem", signal: whileListed, draw: shopCard,
      key: (/** @type {import("../cards/shop.js").Shop} */ shop) => shop.id,
      load: byPage(A_PAGE, (current) => get("/shop/of/name", { query: { name, current }, signal: whileListed })),
      none: () => empty("search", both(`没有叫“${name}”的店。`, `No shop is called “${name}”.`)),
    });
    // Who opens a shop has found what they looked for.
    list.root.addEventListener("click", () => keepSearch(name), { signal: whileListed });
    fill(found, h("h2", { class: "unseen" }, both("搜索结果", "What was found")), list.root);
  }

  /** For who cannot think of a name. @param {AbortSignal} whileListed */
  function kinds(whileListed) {
    const list = h("ul", { class: "row wrap" });
    shown("types", () => get("/shop-type/list", { signal: whileListed }), (/** @type {import("../cards/shop.js").ShopType[]} */ all) =>
      fill(list, all.map(({ id, name }) => h("li", null, linkButton(name, `#/shops?type=${id}`))))).catch(() => {});
    return h("section", null, h("div", { class: "head" }, h("h2", null, both("按类型逛", "By kind"))), list);
  }

  function recent() {
    const names = searches();
    return names.length > 0 && h("section", null,
      h("div", { class: "head" }, h("h2", null, both("最近搜过", "Searched before")),
        button(both("清除", "Clear"), () => {
          forgetSearches();
          show();
          input.focus();
        }, { look: ["bare"] })),
      h("ul", { class: "row wrap" }, names.map((name) => h("li", null, button(name, () => {
        input.value = name;
        show();
      })))));
  }
}
