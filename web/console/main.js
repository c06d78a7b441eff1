// The operator console: routes, navigation and access control.

import { onToken } from "../core/api.js";
import { repeatWhileVisible, fill, h } from "../core/dom.js";
import { takeKioskKey } from "../core/kiosk-key.js";
import { onLanguageChange } from "../core/language.js";
import { isKiosk } from "../core/local-storage.js";
import { address, reopen, preload, start } from "../core/router.js";
import "../core/color-scheme.js";
import { connectionBar } from "../parts/connection-bar.js";
import { errorState } from "../parts/empty-state.js";
import { skeletons } from "../parts/skeleton.js";
import { connectMetrics, onMetrics, onAccessRevoked, disconnectMetrics } from "./live-metrics.js";
import { renderFrame, updateHealth, updateBadges } from "./frame.js";
import * as live from "./screens/live.js";
import { resetAccess, cachedAccess, readAccess } from "./access.js";
import { clockBanner } from "./pieces/clock-banner.js";
import { startCounter } from "./counter/session.js";
import { refreshPendingCounts, onPendingCounts } from "./pending-counts.js";

/** @typedef {import("../core/router.js").Screen} Screen */

/** Refresh interval of the badges. */
const REFRESH_COUNTS_MS = 30_000;

/** @type {Record<string, () => Screen | Promise<Screen>>} the screens of staff, at a kiosk: `/console?kiosk` */
const COUNTER_SCREENS = {
  "/": () => import("./counter/sell.js"),
  "/sell": () => import("./counter/sell.js"),
  "/redeem": () => import("./screens/redeem.js"),
  "/log-in-code": () => import("./counter/log-in-code.js"),
  "/today": () => import("./counter/today.js"),
  "/cash": () => import("./screens/cash.js"),
  "/order/:id": () => import("./counter/order.js"),
  "*": () => import("./screens/not-found.js"),
};

/** @type {Record<string, () => Screen | Promise<Screen>>} screens other than the first are loaded lazily */
const OPERATOR_SCREENS = {
  "/": () => live,
  "/live": () => live,
  "/sales": () => import("./screens/sales.js"),
  "/sales/new": () => import("./screens/new-sale.js"),
  "/sale/:id": () => import("./screens/sale.js"),
  "/sale/:id/attempts": () => import("./screens/attempts.js"),
  "/kiosks": () => import("./screens/kiosks.js"),
  "/staff": () => import("./screens/staff.js"),
  "/claim-gateways": () => import("./screens/claim-gateways.js"),
  "/judgement": () => import("./screens/judgement.js"),
  "/orders": () => import("./screens/orders.js"),
  "/order/:id": () => import("./screens/order.js"),
  "/cash": () => import("./screens/cash.js"),
  "/redeem": () => import("./screens/redeem.js"),
  "/letters": () => import("./screens/dead-letters.js"),
  "/retries": () => import("./screens/retries.js"),
  "/reviews": () => import("./screens/reviews.js"),
  "/votes": () => import("./screens/votes.js"),
  "/vote-archive": () => import("./screens/vote-archive.js"),
  "/reports": () => import("./screens/reports.js"),
  "/shops": () => import("./screens/shops.js"),
  "/shops/new": () => import("./screens/new-shop.js"),
  "/shop/:id": () => import("./screens/shop.js"),
  "/shop-types": () => import("./screens/shop-types.js"),
  "/levels": () => import("./screens/levels.js"),
  "/users": () => import("./screens/users.js"),
  "/security": () => import("./screens/security.js"),
  "/events": () => import("./screens/events.js"),
  "/audit": () => import("./screens/audit.js"),
  "/account": () => import("./screens/account.js"),
  "*": () => import("./screens/not-found.js"),
};

const SCREENS = isKiosk ? COUNTER_SCREENS : OPERATOR_SCREENS;
const ROUTES = Object.entries(SCREENS).map(([path, load]) => ({ path, load: () => requireAccess(load) }));
const [bar, screen, tabs] = ["bar", "screen", "tabs"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
let currentPath = "/";

/**
 * Returns the screen for operators, or for staff at a kiosk; and a replacement for everybody else.
 * @param {() => Screen | Promise<Screen>} load
 */
async function requireAccess(load) {
  // Access and module are loaded in parallel.
  const [access, screenModule] = await Promise.all([readAccess(), load()]);
  switch (access) {
    case "nobody": return isKiosk ? import("./counter/pin.js") : import("./screens/login.js");
    case "staff": return screenModule;
    case "customer": return import("./screens/operators-only.js");
    case "code": return import("./screens/second-factor.js");
    case "enrol": return import("./screens/enrol.js");
    default:
      connectMetrics();
      return screenModule;
  }
}

bar.append(connectionBar(), clockBanner());
if (isKiosk) {
  takeKioskKey();
  startCounter();
}
onLanguageChange(() => renderFrame(tabs, currentPath));
onMetrics(() => updateHealth(tabs));
onPendingCounts(() => updateBadges(tabs));
repeatWhileVisible(REFRESH_COUNTS_MS, new AbortController().signal, () => cachedAccess() === "operator" && refreshPendingCounts().catch(() => {}));
onAccessRevoked(() => {
  resetAccess();
  reopen();
});
onToken(() => {
  disconnectMetrics();
  reopen();
});
renderFrame(tabs, address());
fill(screen, h("div", { class: "stack" }, skeletons(3, "9rem")));
start(screen, ROUTES, (path) => {
  currentPath = path;
  renderFrame(tabs, path);
}, (error, { root }) => fill(root, errorState(error, reopen)));
preload(Object.values(SCREENS));
