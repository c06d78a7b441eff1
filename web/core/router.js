// Screens by address: `#/shop/7`. An address can be kept, sent to others, and gone back to.

import { both, onLanguage } from "./language.js";

/**
 * One showing of a screen.
 * @typedef {object} Showing
 * @property {HTMLElement} root where it draws; empty at first
 * @property {Record<string, string>} at what the address says: `id` of `/shop/:id`, and its query
 * @property {AbortSignal} signal aborted when another screen is shown: for listeners, timers and requests
 * @property {(text: string) => void} title names it, in the window's title and for screen readers
 * @property {() => void} settled what is there now is whole enough to scroll back to where one was
 */

/**
 * @typedef {object} Screen
 * @property {(showing: Showing) => void | Promise<void>} open draws it
 */

/** @typedef {{path: string, load: () => Promise<Screen> | Screen}} Route */

/** @type {AbortController | null} */
let current = null;
/** @type {Map<string, number>} how far a screen was scrolled when it was left */
const scrolled = new Map();
let shownAddress = "";
/** How many screens lie before this one, to go back to. */
let step = 0;

/** The address that is shown: `/shop/7?tab=notes`. */
export function address() {
  return location.hash.slice(1) || "/";
}

/**
 * @param {string} to
 * @param {{replace?: boolean}} [how] `replace`: one cannot go back to here
 */
export function go(to, { replace = false } = {}) {
  if (replace) location.replace(`#${to}`);
  else location.hash = to;
}

/** Shows what is shown now from its beginning: to somebody who logged in meanwhile, for example. */
export function anew() {
  dispatchEvent(new Event("hashchange"));
}

/**
 * Gives what is shown another address, and opens nothing: for a tab, or an order of a list.
 * @param {string} to
 */
export function readdress(to) {
  history.replaceState(history.state, "", `#${to}`);
  shownAddress = address();
}

/** Back to where one came from, or to `home` if one came from elsewhere. */
export function back(home = "/") {
  if (history.state?.step > 0) history.back();
  else go(home, { replace: true });
}

/**
 * Shows what the address names, and goes on doing so.
 * @param {HTMLElement} root
 * @param {Route[]} routes the first that fits is taken; the last one fits everything
 * @param {(path: string) => void} opened told of each screen
 * @param {(error: unknown, showing: Showing) => void} failed what a screen could not do
 */
export function start(root, routes, opened, failed) {
  history.scrollRestoration = "manual";
  addEventListener("hashchange", () => show());
  onLanguage(() => show());
  show();

  async function show() {
    const isSame = shownAddress === address();
    if (current) scrolled.set(shownAddress, scrollY);
    shownAddress = address();
    // An entry of the history that was shown before has its step.
    const isBack = history.state?.step !== undefined;
    if (!isBack) history.replaceState({ step: current ? (step += 1) : 0 }, "");
    step = history.state.step;
    current?.abort();
    const mine = new AbortController();
    current = mine;
    const [path, query] = split(shownAddress);
    const { route, found } = match(routes, path);
    const at = { ...Object.fromEntries(new URLSearchParams(query)), ...found };
    const fresh = document.createElement("div");
    const top = isBack || isSame ? (scrolled.get(shownAddress) ?? 0) : 0;
    const showing = {
      root: fresh,
      at,
      signal: mine.signal,
      /** @param {string} text */
      title: (text) => {
        document.title = `${text} · mallbox`;
        root.setAttribute("aria-label", text);
      },
      settled: () => top && scrollTo(0, top),
    };
    try {
      const screen = await route.load();
      if (mine.signal.aborted) return;
      root.replaceChildren(fresh);
      opened(path);
      // Who reads by ear or by key begins at the new screen.
      if (!isSame) root.focus({ preventScroll: true });
      scrollTo(0, top);
      await screen.open(showing);
      showing.settled();
    } catch (error) {
      if (!mine.signal.aborted) {
        if (!fresh.isConnected) root.replaceChildren(fresh);
        showing.title(both("出错了", "Something went wrong"));
        failed(error, showing);
      }
    }
  }
}

/** @param {string} text */
function split(text) {
  const at = text.indexOf("?");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * @param {Route[]} routes
 * @param {string} path
 */
function match(routes, path) {
  for (const route of routes) {
    const found = fits(route.path, path);
    if (found) return { route, found };
  }
  return { route: routes[routes.length - 1], found: {} };
}

/**
 * @param {string} pattern
 * @param {string} path
 * @returns {Record<string, string> | null}
 */
function fits(pattern, path) {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return null;
  /** @type {Record<string, string>} */
  const found = {};
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith(":")) found[part.slice(1)] = given[index];
    else if (part !== given[index]) return null;
  }
  return found;
}
