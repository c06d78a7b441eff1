// A list that goes on while one scrolls.

import { copyOf, copyTo } from "../core/copies.js";
import { fill, h } from "../core/dom.js";
import { both } from "../core/language.js";
import { failure } from "./empty.js";
import { skeletons } from "./skeleton.js";

/**
 * @template Item, Next, Key
 * @typedef {object} Endless
 * @property {string} name of the copy that is shown when one comes back
 * @property {(next: Next | undefined) => Promise<{items: Item[], next: Next | undefined}>} load a page: the first without
 * `next`; none follows one that answers no `next`
 * @property {(item: Item) => Node} draw
 * @property {(item: Item) => Key} key tells two items apart: what moved to the next page meanwhile is shown once
 * @property {() => Node} none what is shown where there is none
 * @property {string} [look] classes of the list
 * @property {string} [height] of an item, until it is there
 * @property {AbortSignal} signal
 */

/**
 * @template Item, Key
 * @typedef {object} List
 * @property {HTMLElement} root
 * @property {() => Promise<void>} reload begins anew
 * @property {() => Promise<void>} refresh reads the first page and keeps what follows; done by itself for a list that somebody
 * came back to
 * @property {(item: Item) => void} add puts one above the others
 * @property {(key: Key) => void} drop takes the one with this key away
 * @property {() => Key[]} keys of those that are shown, or were
 */

/**
 * What is shown, and kept for who comes back.
 * @template Item, Next
 * @typedef {{items: Item[], next: Next | undefined, isWhole: boolean, pages: number}} Shown `pages`: so many were loaded
 */

/**
 * @template Item, Next, Key
 * @param {Endless<Item, Next, Key>} how
 * @returns {List<Item, Key>}
 */
export function endless({ name, load, draw, key, none, look = "stack", height = "7rem", signal }) {
  const list = h("ul", { class: look });
  let foot = h("div", { class: "stack" });
  const root = h("div", null, list, foot);
  /** @type {Shown<Item, Next>} */
  let state = { items: [], next: undefined, isWhole: false, pages: 0 };
  let isLoading = false;
  /** @type {Set<Key>} */
  let keys = new Set();
  /** @type {Map<Key, {item: Item, root: HTMLElement}>} */
  let rows = new Map();
  /** Counts what took the place of the list: more of the one before is of no use any more. */
  let era = 0;
  /** Counts what would: what was asked for before is older. */
  let asked = 0;
  /** @type {Promise<void> | null} */
  let refreshing = null;

  const sight = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && more(), { rootMargin: "600px" });
  signal.addEventListener("abort", () => sight.disconnect());

  const kept = /** @type {Shown<Item, Next> | undefined} */ (copyOf(name));
  if (kept) {
    state = kept;
    keys = new Set(state.items.map(key));
    redraw();
  }
  settle();
  // Nobody knows how old it is.
  if (kept) refresh().catch(() => {});

  /** @param {Item} item */
  function row(item) {
    return h("li", null, draw(item));
  }

  /** @param {number} count */
  function waiting(count) {
    return h("div", { class: look }, skeletons(count, height));
  }

  async function more() {
    if (isLoading || state.isWhole || signal.aborted) return;
    isLoading = true;
    const mine = era;
    if (state.items.length === 0) fill(foot, waiting(4));
    try {
      const { items, next } = await load(state.next);
      if (signal.aborted || mine !== era) return;
      const fresh = items.filter((item) => !keys.has(key(item)));
      for (const item of fresh) keys.add(key(item));
      state = { items: [...state.items, ...fresh], next, isWhole: next === undefined, pages: state.pages + 1 };
      copyTo(name, state);
      redraw();
      // It may be in sight still, and is asked about at once.
      isLoading = false;
      settle();
    } catch (error) {
      if (!signal.aborted && mine === era) fill(foot, failure(error, again));
    } finally {
      if (mine === era) isLoading = false;
    }
  }

  /** With a foot of its own: one that is pushed down by what came would count as moved under the reader's eyes. */
  function settle() {
    const old = foot;
    foot = h("div", { class: "stack" });
    old.replaceWith(foot);
    sight.unobserve(old);
    // It may be in sight at once: then more is asked for.
    sight.observe(foot);
    if (!state.isWhole) fill(foot, state.items.length > 0 && waiting(1));
    else if (state.items.length === 0) fill(foot, none());
    else fill(foot, h("p", { class: "quiet small endless-end" }, both("没有更多了", "That is all")));
  }

  async function again() {
    fill(foot, waiting(1));
    await more();
  }

  async function reload() {
    const mine = (asked += 1);
    const { items, next } = await load(undefined);
    if (signal.aborted || mine !== asked) return;
    rows = new Map();
    replace({ items, next, isWhole: next === undefined, pages: 1 });
  }

  async function refresh() {
    // All of it is on its way.
    if (state.pages === 0) return;
    refreshing ??= refreshed().finally(() => (refreshing = null));
    await refreshing;
  }

  async function refreshed() {
    const mine = (asked += 1);
    const { items, next } = await load(undefined);
    if (signal.aborted || mine !== asked) return;
    const renewed = withFirst(items, next);
    if (JSON.stringify(renewed) !== JSON.stringify(state)) replace(renewed);
  }

  /**
   * What is shown, with its first page as it is now.
   * @param {Item[]} items
   * @param {Next | undefined} next
   * @returns {Shown<Item, Next>}
   */
  function withFirst(items, next) {
    // Where pages follow that nothing joins to the first one, or the first one is all there is, it alone counts.
    if (state.pages <= 1 || next === undefined || !items.some((item) => keys.has(key(item)))) {
      return { items, next, isWhole: next === undefined, pages: 1 };
    }
    const fresh = new Map(items.map((item) => [key(item), item]));
    const old = state.items.map((item) => {
      const known = fresh.get(key(item));
      fresh.delete(key(item));
      return known ?? item;
    });
    return { ...state, items: [...fresh.values(), ...old] };
  }

  /** @param {Shown<Item, Next>} fresh */
  function replace(fresh) {
    era += 1;
    isLoading = false;
    state = fresh;
    keys = new Set(state.items.map(key));
    copyTo(name, state);
    redraw();
    settle();
  }

  /** @param {Item} item */
  function add(item) {
    // Whatever is on its way was asked for before there was this one.
    asked += 1;
    keys.add(key(item));
    state = { ...state, items: [item, ...state.items] };
    copyTo(name, state);
    redraw();
    settle();
  }

  /** @param {Key} gone */
  function drop(gone) {
    // Whatever is on its way was asked for while there was this one; `keys` holds it, so that no page brings it back.
    asked += 1;
    state = { ...state, items: state.items.filter((item) => key(item) !== gone) };
    copyTo(name, state);
    redraw();
    settle();
  }

  /** What is the same as before is left alone: somebody may be at it. What one did to it, its item knows. */
  function redraw() {
    const old = rows;
    rows = new Map(state.items.map((item) => {
      const known = old.get(key(item));
      const isSame = known && (known.item === item || JSON.stringify(known.item) === JSON.stringify(item));
      return [key(item), isSame ? known : { item, root: row(item) }];
    }));
    const wanted = [...rows.values()].map((one) => one.root);
    const stays = new Set(wanted);
    for (const one of [...list.children]) if (!stays.has(/** @type {HTMLLIElement} */ (one))) one.remove();
    for (const [index, one] of wanted.entries()) {
      const there = list.children[index];
      if (there !== one) list.insertBefore(one, there ?? null);
    }
  }

  return { root, reload, refresh, add, drop, keys: () => [...keys] };
}

/**
 * For lists that are asked for by the number of a page, each with so many items.
 * @template Item
 * @param {number} size
 * @param {(current: number) => Promise<Item[]>} page
 * @returns {(next: number | undefined) => Promise<{items: Item[], next: number | undefined}>}
 */
export function byPage(size, page) {
  return async (next = 1) => {
    const items = (await page(next)) ?? [];
    return { items, next: items.length < size ? undefined : next + 1 };
  };
}
