// Screens by address: `#/shop/7`. An address can be kept, sent to others, and gone back to.

import { Unreachable, isReachable, unanswered } from "./api.js";
import { both, onLanguage } from "./language.js";

/**
 * One showing of a screen.
 * @typedef {object} Showing
 * @property {HTMLElement} root where it draws; empty at first
 * @property {Record<string, string>} at what the address says: `id` of `/shop/:id`, which is a number in digits, and its query
 * @property {AbortSignal} signal aborted when another screen is shown: for listeners, timers and requests
 * @property {(text: string) => void} title names it, in the window's title and for screen readers
 * @property {() => void} settled what is there now is whole enough to scroll back to where one was; not any more once one
 * moved the page
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
/** Whether the next one takes the place of this one. */
let isReplacing = false;
/** By what a reader moves a page: from then on it is where the reader wants it to be. */
const MOVES = ["wheel", "touchmove", "pointerdown", "keydown"];

/** A screen's module did not come. */
export class Unloaded extends Unreachable {}
/** What browsers say then. */
const NOT_IMPORTED = /imported module|importing a module/i;
/** So long after the first screen the others are loaded. */
const AHEAD_AFTER_MS = 3_000;

/** The address that is shown: `/shop/7?tab=notes`. */
export function address() {
  return location.hash.slice(1) || "/";
}

/**
 * @param {string} to
 * @param {{replace?: boolean}} [how] `replace`: one cannot go back to here
 */
export function go(to, { replace = false } = {}) {
  if (replace) {
    isReplacing = to !== address();
    location.replace(`#${to}`);
  } else location.hash = to;
}

/**
 * Gives what is shown another address, and opens nothing: for a tab, or an order of a list.
 * @param {string} to
 */
export function readdress(to) {
  history.replaceState(history.state, "", `#${to}`);
  shownAddress = address();
}

/** Shows what is shown now from its beginning: to somebody who logged in meanwhile, for example. */
export function anew() {
  dispatchEvent(new Event("hashchange"));
}

/**
 * Shows this, from its beginning also if it is what is shown.
 * @param {string} to
 */
export function goAnew(to) {
  if (to === address()) anew();
  else go(to);
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
    const isFirst = current === null;
    if (current) scrolled.set(shownAddress, scrollY);
    shownAddress = address();
    // An entry of the history that was shown before has its step.
    const isBack = history.state?.step !== undefined;
    if (!isBack) history.replaceState({ step: current && !isReplacing ? step + 1 : step }, "");
    isReplacing = false;
    step = history.state.step;
    current?.abort();
    const mine = new AbortController();
    current = mine;
    const [path, query] = split(shownAddress);
    const { route, found } = match(routes, path);
    const at = { ...Object.fromEntries(new URLSearchParams(query)), ...found };
    const fresh = document.createElement("div");
    let top = isBack || isSame ? (scrolled.get(shownAddress) ?? 0) : 0;
    for (const move of MOVES) addEventListener(move, () => (top = 0), { signal: mine.signal, passive: true });
    const showing = {
      root: fresh,
      at,
      signal: mine.signal,
      /** @param {string} text */
      title: (text) => {
        // It is left, and another one is named.
        if (mine.signal.aborted) return;
        document.title = `${text} · mallbox`;
        root.setAttribute("aria-label", text);
      },
      settled: () => top > 0 && !mine.signal.aborted && scrollTo(0, top),
    };
    try {
      const screen = await loaded(route);
      if (mine.signal.aborted) return;
      root.replaceChildren(fresh);
      opened(path);
      // Who reads by ear or by key begins at the new screen; at the first one, at the top of the page.
      if (!isSame && !isFirst) root.focus({ preventScroll: true });
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

/** @param {Route} route */
async function loaded({ load }) {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof TypeError && NOT_IMPORTED.test(error.message))) throw error;
    unanswered(error.message);
    throw new Unloaded(error.message);
  }
}

/**
 * Loads what has not been seen yet, so that it is there when the connection is not.
 * @param {(() => unknown)[]} loads
 */
export function loadAhead(loads) {
  setTimeout(async () => {
    try {
      // Each that fails now could be tried again only by loading the page again.
      for (const load of loads) if (isReachable()) await load();
    } catch {
      // It is said when somebody wants to see one.
    }
  }, AHEAD_AFTER_MS);
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

/** What can be an id: digits, as many as the API has at most. */
const ID = /^[1-9]\d{0,18}$/;

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
    if (part.startsWith(":")) {
      if (!ID.test(given[index])) return null;
      found[part.slice(1)] = given[index];
    } else if (part !== given[index]) return null;
  }
  return found;
}
