// The operator's console: its screens by address, and who may see them.

import { onToken } from "../core/api.js";
import { repeatWhileVisible, fill, h } from "../core/dom.js";
import { onLanguageChange } from "../core/language.js";
import { address, reopen, preload, start } from "../core/router.js";
import "../core/scheme.js";
import { connectionBar } from "../parts/connection-bar.js";
import { errorState } from "../parts/empty-state.js";
import { skeletons } from "../parts/skeleton.js";
import { listen, onFigures, onShutOut, stopListening } from "./figures.js";
import { frame, pulse, showWaiting } from "./frame.js";
import * as live from "./screens/live.js";
import { forgetStanding, knownStanding, standing } from "./standing.js";
import { countWaiting, onCount } from "./waiting.js";

/** @typedef {import("../core/router.js").Screen} Screen */

/** How often it is counted what waits. */
const COUNT_EVERY_MS = 30_000;

/** @type {Record<string, () => Screen | Promise<Screen>>} what is not seen at once is loaded when it is */
const SCREENS = {
  "/": () => live,
  "/live": () => live,
  "/sales": () => import("./screens/sales.js"),
  "/sales/new": () => import("./screens/new-sale.js"),
  "/sale/:id": () => import("./screens/sale.js"),
  "/orders": () => import("./screens/orders.js"),
  "/order/:id": () => import("./screens/order.js"),
  "/redeem": () => import("./screens/redeem.js"),
  "/letters": () => import("./screens/letters.js"),
  "/reports": () => import("./screens/reports.js"),
  "/shops": () => import("./screens/shops.js"),
  "/shops/new": () => import("./screens/new-shop.js"),
  "/shop/:id": () => import("./screens/shop.js"),
  "/shop-types": () => import("./screens/shop-types.js"),
  "/users": () => import("./screens/users.js"),
  "/audit": () => import("./screens/audit.js"),
  "*": () => import("./screens/nowhere.js"),
};

const ROUTES = Object.entries(SCREENS).map(([path, load]) => ({ path, load: () => forOperators(load) }));
const [bar, screen, tabs] = ["bar", "screen", "tabs"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
let shownPath = "/";

/**
 * The screen, or what is shown in its place to everybody else.
 * @param {() => Screen | Promise<Screen>} load
 */
async function forOperators(load) {
  // Both are on their way at once.
  const [who, wanted] = await Promise.all([standing(), load()]);
  switch (who) {
    case "nobody": return import("./screens/login.js");
    case "customer": return import("./screens/customer.js");
    default:
      listen();
      return wanted;
  }
}

bar.append(connectionBar());
onLanguageChange(() => frame(tabs, shownPath));
onFigures(() => pulse(tabs));
onCount(() => showWaiting(tabs));
repeatWhileVisible(COUNT_EVERY_MS, new AbortController().signal, () => knownStanding() === "operator" && countWaiting().catch(() => {}));
onShutOut(() => {
  forgetStanding();
  reopen();
});
onToken(() => {
  stopListening();
  reopen();
});
frame(tabs, address());
fill(screen, h("div", { class: "stack" }, skeletons(3, "9rem")));
start(screen, ROUTES, (path) => {
  shownPath = path;
  frame(tabs, path);
}, (error, { root }) => fill(root, errorState(error, reopen)));
preload(Object.values(SCREENS));
