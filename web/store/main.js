// The storefront: its screens by address, and what stands around them.

import { fill, h } from "../core/dom.js";
import { both, language, onLanguage, speak } from "../core/language.js";
import { start } from "../core/router.js";
import { connectionBar } from "../parts/connection.js";
import { failure } from "../parts/empty.js";
import { icon } from "../parts/icons.js";
import { wantsLogIn } from "./entry.js";
import * as home from "./screens/home.js";

/** @typedef {{to: string, begins: string[], icon: import("../parts/icons.js").IconName, zh: string, en: string}} Tab */

/** @type {Tab[]} */
const TABS = [
  { to: "/", begins: [], icon: "home", zh: "首页", en: "Home" },
  { to: "/shops", begins: ["/shop", "/search", "/place"], icon: "shop", zh: "店铺", en: "Shops" },
  { to: "/notes", begins: ["/note", "/write"], icon: "note", zh: "笔记", en: "Notes" },
  { to: "/orders", begins: ["/order"], icon: "order", zh: "订单", en: "Orders" },
  { to: "/me", begins: ["/me", "/login", "/sign-in", "/person"], icon: "me", zh: "我的", en: "Me" },
];

/** The first that fits is shown, and the last one where none does. What is not seen at once is loaded when it is. */
const ROUTES = [
  { path: "/", load: () => home },
  { path: "/login", load: () => import("./screens/login.js") },
  { path: "/shops", load: () => import("./screens/shops.js") },
  { path: "/search", load: () => import("./screens/search.js") },
  { path: "/shop/:id", load: () => import("./screens/shop.js") },
  { path: "/place", load: () => import("./screens/place.js") },
  { path: "/sale/:id", load: () => import("./screens/sale.js") },
  { path: "/order/:id", load: () => import("./screens/order.js") },
  { path: "/orders", load: () => import("./screens/orders.js") },
  { path: "/notes", load: () => import("./screens/notes.js") },
  { path: "/note/:id", load: () => import("./screens/note.js") },
  { path: "/write", load: () => import("./screens/write.js") },
  { path: "/person/:id", load: () => import("./screens/person.js") },
  { path: "/me", load: () => import("./screens/me.js") },
  { path: "/me/edit", load: () => import("./screens/me-edit.js") },
  { path: "/me/password", load: () => import("./screens/me-password.js") },
  { path: "/sign-in", load: () => import("./screens/sign-in.js") },
  { path: "*", load: () => import("./screens/nowhere.js") },
];

const [bar, screen, tabs] = ["bar", "screen", "tabs"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
let shownPath = "/";

function frame() {
  tabs.setAttribute("aria-label", both("主导航", "Main"));
  fill(tabs, h("a", { class: "brand", href: "#/", "aria-hidden": "true", tabindex: "-1" }, icon("shop"), "mallbox"), TABS.map((tab) => {
    const isHere = tab.to === shownPath || tab.begins.some((beginning) => shownPath.startsWith(beginning));
    return h("a", { href: `#${tab.to}`, class: "tab", "aria-current": isHere && "page" },
      icon(tab.icon), h("span", null, both(tab.zh, tab.en)));
  }), h("button", { class: "tongue", type: "button", lang: both("en", "zh-CN"), onclick: () => speak(language() === "zh" ? "en" : "zh") },
    both("English", "中文")));
}

bar.append(connectionBar());
onLanguage(frame);
start(screen, ROUTES, (path) => {
  shownPath = path;
  frame();
}, (error, { root }) => {
  if (!wantsLogIn(error)) fill(root, failure(error, () => location.reload()));
});
