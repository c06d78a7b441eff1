// The storefront: its screens by address, and what stands around them.

import { Refusal, hasToken, onToken } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { isKiosk, onLocalChange } from "../core/kept.js";
import { t, language, onLanguageChange, setLanguage } from "../core/language.js";
import { delay } from "../core/moments.js";
import { reopen, preload, start } from "../core/router.js";
import { me } from "../core/session.js";
import { linkButton } from "../parts/button.js";
import { connectionBar } from "../parts/connection-bar.js";
import { emptyState, errorState } from "../parts/empty-state.js";
import { icon } from "../parts/icons.js";
import { skipLink } from "../parts/skip-link.js";
import { wantsLogIn } from "./entry.js";
import { finish, runKiosk } from "./kiosk.js";
import * as home from "./screens/home.js";

/** @typedef {{to: string, begins: string[], icon: import("../parts/icons.js").IconName, zh: string, en: string, isOwn?: boolean}} Tab */

/** What is one's own for longer than a visit is not for a kiosk. @type {Tab[]} */
const TABS = [
  { to: "/", begins: ["/sale"], icon: "home", zh: "首页", en: "Home" },
  { to: "/shops", begins: ["/shop", "/search", "/place"], icon: "shop", zh: "店铺", en: "Shops" },
  { to: "/notes", begins: ["/note", "/write"], icon: "note", zh: "笔记", en: "Notes", isOwn: true },
  { to: "/orders", begins: ["/order"], icon: "order", zh: "订单", en: "Orders" },
  { to: "/me", begins: ["/me", "/login", "/sign-in", "/person"], icon: "me", zh: "我的", en: "Me", isOwn: true },
];

/** The first that fits is shown, and the last one where none does. What is not seen at once is loaded when it is. */
const ROUTES = [
  { path: "/", load: () => (isKiosk ? import("./screens/welcome.js") : home) },
  { path: "/login", load: () => import("./screens/login.js") },
  { path: "/shops", load: () => import("./screens/shops.js") },
  { path: "/search", load: () => import("./screens/search.js") },
  { path: "/shop/:id", load: () => import("./screens/shop.js") },
  { path: "/place", load: () => import("./screens/place.js") },
  { path: "/sales", load: () => import("./screens/sales.js") },
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

/** So long it is asked who logged in elsewhere. */
const KNOWN_WITHIN_MS = 1_000;

/** What the mall says of things that are not there: trying again does not help. */
const GONE = ["NOT_FOUND", "UNKNOWN_SALE"];

const [bar, screen, tabs] = ["bar", "screen", "tabs"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
let shownPath = "/";

function frame() {
  tabs.setAttribute("aria-label", t("主导航", "Main"));
  fill(tabs, skipLink(), h("a", { class: "brand", href: "#/", "aria-hidden": "true", tabindex: "-1" }, icon("shop"), "mallbox"), TABS.filter((tab) => !(isKiosk && tab.isOwn)).map((tab) => {
    const isHere = tab.to === shownPath || tab.begins.some((beginning) => shownPath.startsWith(beginning));
    return h("a", { href: `#${tab.to}`, class: "tab", "aria-current": isHere && "page" },
      icon(tab.icon), h("span", null, t(tab.zh, tab.en)));
  }), isKiosk && hasToken() && h("button", { class: "tab leave", type: "button", onclick: finish }, icon("out"), h("span", null, t("退出", "Leave"))),
  h("button", { class: "tongue", type: "button", lang: t("en", "zh-CN"), onclick: () => setLanguage(language() === "zh" ? "en" : "zh") },
    t("English", "中文")));
}

bar.append(connectionBar());
onLanguageChange(frame);
onToken(frame);
// What is shown is another one's.
onLocalChange("token", async () => {
  // Who it is should be known then, but the other one's screen does not wait for long.
  await Promise.race([me().catch(() => {}), delay(KNOWN_WITHIN_MS)]);
  reopen();
});
if (isKiosk) runKiosk();
start(screen, ROUTES, (path) => {
  shownPath = path;
  frame();
}, (error, { root }) => {
  if (wantsLogIn(error, { replace: true })) return;
  const isNowhere = error instanceof Refusal && GONE.includes(error.code);
  fill(root, h("h1", { class: "unseen" }, t("出错了", "Something went wrong")),
    isNowhere ? emptyState("search", error.message, linkButton(t("回到首页", "To the first page"), "#/")) : errorState(error, reopen));
});
preload(ROUTES.map(({ load }) => load));
