// The storefront: routes and navigation.

import { Refusal, hasToken, onToken } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { takeKioskKey } from "../core/kiosk-key.js";
import { isKiosk, onLocalChange } from "../core/local-storage.js";
import { t, language, onLanguageChange, setLanguage } from "../core/language.js";
import { delay } from "../core/server-time.js";
import { reopen, preload, start } from "../core/router.js";
import { me } from "../core/session.js";
import { linkButton } from "../parts/button.js";
import { connectionBar } from "../parts/connection-bar.js";
import { emptyState, errorState } from "../parts/empty-state.js";
import { icon } from "../parts/icons.js";
import { skipLink } from "../parts/skip-link.js";
import { redirectIfUnauthorized } from "./login-guard.js";
import { ONLY_SHOP } from "./kiosk/options.js";
import { reachButton } from "./kiosk/reach.js";
import { endSession, startKiosk } from "./kiosk/session.js";
import { keepShell } from "./kiosk/shell.js";
import { openOnHold } from "./kiosk/staff-door.js";
import * as home from "./screens/home.js";

/** @typedef {{to: string, also?: string[], begins: string[], icon: import("../parts/icons.js").IconName, zh: string, en: string, isOwn?: boolean}} Tab */

/** Kiosks hide the tabs of personal content that outlives a visit. @type {Tab[]} */
const TABS = [
  { to: "/", begins: ["/sale"], icon: "home", zh: "首页", en: "Home" },
  ONLY_SHOP === null ? { to: "/shops", begins: ["/shop", "/search", "/place", "/review/"], icon: "shop", zh: "店铺", en: "Shops" }
    : { to: `/shop/${ONLY_SHOP}`, begins: ["/shop", "/review/"], icon: "shop", zh: "本店", en: "Shop" },
  { to: "/notes", begins: ["/note", "/write"], icon: "note", zh: "笔记", en: "Notes", isOwn: true },
  { to: "/orders", also: ["/review"], begins: ["/order"], icon: "order", zh: "订单", en: "Orders" },
  { to: "/me", begins: ["/me", "/login", "/sign-in", "/person"], icon: "me", zh: "我的", en: "Me", isOwn: true },
];

/** A kiosk of one shop starts with it, and has no lists of others. */
const ONE_SHOP_ROUTES = ["/", "/shops", "/search", "/place", "/sales"].map((path) => ({ path, load: () => import("./screens/one-shop.js") }));

/**
 * The first match is taken; the last route matches everything. Screens other than the first are loaded
 * lazily.
 */
const ROUTES = [
  ...(ONLY_SHOP === null ? [] : ONE_SHOP_ROUTES),
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
  { path: "/review", load: () => import("./screens/write-review.js") },
  { path: "/review/:id", load: () => import("./screens/review.js") },
  { path: "/me", load: () => import("./screens/me.js") },
  { path: "/me/edit", load: () => import("./screens/me-edit.js") },
  { path: "/me/password", load: () => import("./screens/me-password.js") },
  { path: "/me/phone", load: () => import("./screens/me-phone.js") },
  { path: "/me/level", load: () => import("./screens/me-level.js") },
  { path: "/me/reviews", load: () => import("./screens/me-reviews.js") },
  { path: "/me/sessions", load: () => import("./screens/me-sessions.js") },
  { path: "/sign-in", load: () => import("./screens/sign-in.js") },
  { path: "*", load: () => import("./screens/not-found.js") },
];

/** Upper bound of the wait for the user of another window's login. */
const LOAD_USER_WITHIN_MS = 1_000;

/** Refusals of missing objects: retrying does not help. */
const NOT_FOUND_CODES = ["NOT_FOUND", "UNKNOWN_SALE"];

const [bar, screen, tabs] = ["bar", "screen", "tabs"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
let currentPath = "/";

function renderNavigation() {
  tabs.setAttribute("aria-label", t("主导航", "Main"));
  const brand = h("a", { class: "brand", href: "#/", "aria-hidden": "true", tabindex: "-1" }, icon("shop"), "mallbox");
  fill(tabs, skipLink(), isKiosk ? openOnHold(brand) : brand, TABS.filter((tab) => !(isKiosk && tab.isOwn)).map((tab) => {
    const isCurrent = tab.to === currentPath || tab.also?.includes(currentPath) || tab.begins.some((prefix) => currentPath.startsWith(prefix));
    return h("a", { href: `#${tab.to}`, class: "tab", "aria-current": isCurrent && "page" },
      icon(tab.icon), h("span", null, t(tab.zh, tab.en)));
  }), isKiosk && reachButton(), isKiosk && hasToken() && h("button", { class: "tab leave", type: "button", onclick: endSession }, icon("out"), h("span", null, t("退出", "Log out"))),
  h("button", { class: "tongue", type: "button", lang: t("en", "zh-CN"), onclick: () => setLanguage(language() === "zh" ? "en" : "zh") },
    t("English", "中文")));
}

bar.append(connectionBar());
onLanguageChange(renderNavigation);
onToken(renderNavigation);
// A login or logout in another window: the current screen belongs to the previous user.
onLocalChange("token", async () => {
  // The user should be loaded by then, but the screen does not wait for long.
  await Promise.race([me().catch(() => {}), delay(LOAD_USER_WITHIN_MS)]);
  reopen();
});
if (isKiosk) {
  takeKioskKey();
  startKiosk();
  void keepShell();
}
start(screen, ROUTES, (path) => {
  currentPath = path;
  renderNavigation();
}, (error, { root }) => {
  if (redirectIfUnauthorized(error, { replace: true })) return;
  const isNotFound = error instanceof Refusal && NOT_FOUND_CODES.includes(error.code);
  fill(root, h("h1", { class: "unseen" }, t("出错了", "Something went wrong")),
    isNotFound ? emptyState("search", error.message, linkButton(t("回到首页", "Back to home"), "#/")) : errorState(error, reopen));
});
preload(ROUTES.map(({ load }) => load));
