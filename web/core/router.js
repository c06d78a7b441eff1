// A hash router: screens have addresses such as `#/shop/7`, which can be bookmarked, shared and revisited.

import { Unreachable, isReachable, reportUnreachable } from "./api.js";
import { t, onLanguageChange } from "./language.js";

/**
 * The context of an open screen.
 * @typedef {object} ScreenContext
 * @property {HTMLElement} root the screen's container, empty at first
 * @property {Record<string, string>} params the path's parameters, such as the numeric `id` of
 * `/shop/:id`, and the query's
 * @property {AbortSignal} signal aborts when the user leaves the screen: for listeners, timers and requests
 * @property {(text: string) => void} title sets the title of the window and the label for screen readers
 * @property {() => void} restoreScroll restores the scroll position once the content is high
 * enough; ignored after the user scrolled
 */

/**
 * @typedef {object} Screen
 * @property {(context: ScreenContext) => void | Promise<void>} open renders the screen
 */

/** @typedef {{path: string, load: () => Promise<Screen> | Screen}} Route */

/** @type {AbortController | null} */
let current = null;
/** @type {Map<string, number>} scroll positions of screens that were left */
const scrollPositions = new Map();
let currentAddress = "";
/** Position in the browser history, counted from the first screen. */
let historyStep = 0;
/** Whether the next screen replaces the current history entry. */
let isReplacing = false;
/** Events by which the user scrolls; a pending scroll restoration ends with the first. */
const SCROLL_INPUTS = ["wheel", "touchmove", "pointerdown", "keydown"];

/** A screen's module could not be loaded. */
export class ModuleLoadError extends Unreachable {}
/** Messages of browsers for failed imports. */
const IMPORT_ERROR = /imported module|importing a module/i;
/** Delay before the other screens are preloaded. */
const PRELOAD_AFTER_MS = 3_000;

/** Returns the current address, such as `/shop/7?tab=notes`. */
export function address() {
  return location.hash.slice(1) || "/";
}

/**
 * @param {string} to
 * @param {{replace?: boolean}} [options] `replace`: replaces the current history entry
 */
export function go(to, { replace = false } = {}) {
  if (replace) {
    isReplacing = to !== address();
    location.replace(`#${to}`);
  } else location.hash = to;
}

/**
 * Changes the address without opening a screen, for tabs and sort orders.
 * @param {string} to
 */
export function replaceAddress(to) {
  history.replaceState(history.state, "", `#${to}`);
  currentAddress = address();
}

/** Opens the current screen again from scratch, for example after a login. */
export function reopen() {
  dispatchEvent(new Event("hashchange"));
}

/**
 * Opens an address, also if it is the current one.
 * @param {string} to
 */
export function goOrReopen(to) {
  if (to === address()) reopen();
  else go(to);
}

/** Goes back in history, or to `home` if the mall was entered here. */
export function back(home = "/") {
  if (history.state?.step > 0) history.back();
  else go(home, { replace: true });
}

/**
 * Opens the screen of the address and follows address changes.
 * @param {HTMLElement} root
 * @param {Route[]} routes the first match is taken; the last route matches everything
 * @param {(path: string) => void} onOpen receives the path of every opened screen
 * @param {(error: unknown, context: ScreenContext) => void} onError receives the error of a failed screen
 */
export function start(root, routes, onOpen, onError) {
  history.scrollRestoration = "manual";
  addEventListener("hashchange", () => show());
  onLanguageChange(() => show());
  show();

  async function show() {
    const isSame = currentAddress === address();
    const isFirst = current === null;
    if (current) scrollPositions.set(currentAddress, scrollY);
    currentAddress = address();
    // Revisited history entries carry a step.
    const isBack = history.state?.step !== undefined;
    if (!isBack) history.replaceState({ step: current && !isReplacing ? historyStep + 1 : historyStep }, "");
    isReplacing = false;
    historyStep = history.state.step;
    current?.abort();
    const controller = new AbortController();
    current = controller;
    const [path, query] = splitQuery(currentAddress);
    const { route, found } = matchRoute(routes, path);
    const params = { ...Object.fromEntries(new URLSearchParams(query)), ...found };
    const container = document.createElement("div");
    let top = isBack || isSame ? (scrollPositions.get(currentAddress) ?? 0) : 0;
    for (const move of SCROLL_INPUTS) addEventListener(move, () => (top = 0), { signal: controller.signal, passive: true });
    const context = {
      root: container,
      params,
      signal: controller.signal,
      /** @param {string} text */
      title: (text) => {
        // The screen was left; the next one sets the title.
        if (controller.signal.aborted) return;
        document.title = `${text} · mallbox`;
        root.setAttribute("aria-label", text);
      },
      restoreScroll: () => top > 0 && !controller.signal.aborted && scrollTo(0, top),
    };
    try {
      const screen = await loadScreen(route);
      if (controller.signal.aborted) return;
      root.replaceChildren(container);
      onOpen(path);
      // Moves the focus of keyboard and screen reader users to the new screen; the first screen starts at the
      // top.
      if (!isSame && !isFirst) root.focus({ preventScroll: true });
      scrollTo(0, top);
      await screen.open(context);
      context.restoreScroll();
    } catch (error) {
      if (!controller.signal.aborted) {
        if (!container.isConnected) root.replaceChildren(container);
        context.title(t("出错了", "Something went wrong"));
        onError(error, context);
      }
    }
  }
}

/** @param {Route} route */
async function loadScreen({ load }) {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof TypeError && IMPORT_ERROR.test(error.message))) throw error;
    reportUnreachable(error.message);
    throw new ModuleLoadError(error.message);
  }
}

/**
 * Preloads the other screens, so that they open without a connection.
 * @param {(() => unknown)[]} loads
 */
export function preload(loads) {
  setTimeout(async () => {
    try {
      // The browser caches a failed import until the page reloads.
      for (const load of loads) if (isReachable()) await load();
    } catch {
      // Reported when the user opens the screen.
    }
  }, PRELOAD_AFTER_MS);
}

/** @param {string} text */
function splitQuery(text) {
  const at = text.indexOf("?");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * @param {Route[]} routes
 * @param {string} path
 */
function matchRoute(routes, path) {
  for (const route of routes) {
    const params = matchPattern(route.path, path);
    if (params) return { route, found: params };
  }
  return { route: routes[routes.length - 1], found: {} };
}

/** Ids have at most as many digits as the API allows. */
const ID_PATTERN = /^[1-9]\d{0,18}$/;

/**
 * @param {string} pattern
 * @param {string} path
 * @returns {Record<string, string> | null}
 */
function matchPattern(pattern, path) {
  const [expected, given] = [pattern.split("/"), path.split("/")];
  if (expected.length !== given.length) return null;
  /** @type {Record<string, string>} */
  const params = {};
  for (const [index, part] of expected.entries()) {
    if (part.startsWith(":")) {
      if (!ID_PATTERN.test(given[index])) return null;
      params[part.slice(1)] = given[index];
    } else if (part !== given[index]) return null;
  }
  return params;
}
