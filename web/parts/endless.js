// A list that goes on while one scrolls.

import { copyOf, copyTo } from "../core/copies.js";
import { fill, h } from "../core/dom.js";
import { both } from "../core/language.js";
import { failure } from "./empty.js";
import { skeletons } from "./skeleton.js";

/**
 * @template Item, Next
 * @typedef {object} Endless
 * @property {string} name of the copy that is shown when one comes back
 * @property {(next: Next | undefined) => Promise<{items: Item[], next: Next | undefined}>} load a page: the first without
 * `next`; none follows one that answers no `next`
 * @property {(item: Item) => Node} draw
 * @property {(item: Item) => unknown} key tells two items apart: what moved to the next page meanwhile is shown once
 * @property {() => Node} none what is shown where there is none
 * @property {string} [look] classes of the list
 * @property {string} [height] of an item, until it is there
 * @property {AbortSignal} signal
 */

/**
 * @template Item
 * @typedef {object} List
 * @property {HTMLElement} root
 * @property {() => Promise<void>} reload begins anew
 * @property {() => Promise<void>} refresh reads the first page and keeps what follows, for a list that somebody came back to
 * @property {(item: Item) => void} add puts one above the others
 * @property {(key: unknown) => boolean} holds whether one with this key is shown
 */

/**
 * @template Item, Next
 * @param {Endless<Item, Next>} how
 * @returns {List<Item>}
 */
export function endless({ name, load, draw, key, none, look = "stack", height = "7rem", signal }) {
  const list = h("ul", { class: look });
  let foot = h("div", { class: "stack" });
  const root = h("div", null, list, foot);
  /** @type {{items: Item[], next: Next | undefined, isWhole: boolean}} */
  let state = { items: [], next: undefined, isWhole: false };
  let isLoading = false;
  let keys = new Set();

  const sight = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && more(), { rootMargin: "600px" });
  signal.addEventListener("abort", () => sight.disconnect());

  const kept = /** @type {typeof state | undefined} */ (copyOf(name));
  if (kept) {
    state = kept;
    keys = new Set(state.items.map(key));
    list.append(...state.items.map(row));
  }
  settle();

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
    if (state.items.length === 0) fill(foot, waiting(4));
    try {
      const { items, next } = await load(state.next);
      if (signal.aborted) return;
      const fresh = items.filter((item) => !keys.has(key(item)));
      for (const item of fresh) keys.add(key(item));
      state = { items: [...state.items, ...fresh], next, isWhole: next === undefined };
      copyTo(name, state);
      list.append(...fresh.map(row));
      settle();
    } catch (error) {
      if (!signal.aborted) fill(foot, failure(error, again));
      return;
    } finally {
      isLoading = false;
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
    const { items, next } = await load(undefined);
    if (signal.aborted) return;
    state = { items, next, isWhole: next === undefined };
    keys = new Set(items.map(key));
    copyTo(name, state);
    fill(list, items.map(row));
    settle();
  }

  async function refresh() {
    // Without a copy, all of it is on its way.
    if (!kept) return;
    const { items, next } = await load(undefined);
    if (signal.aborted) return;
    const fresh = new Map(items.map((item) => [key(item), item]));
    const old = state.items.map((item) => {
      const known = fresh.get(key(item));
      fresh.delete(key(item));
      return known ?? item;
    });
    const wasEmpty = state.items.length === 0;
    state = { items: [...fresh.values(), ...old], next: wasEmpty ? next : state.next, isWhole: wasEmpty ? next === undefined : state.isWhole };
    keys = new Set(state.items.map(key));
    copyTo(name, state);
    fill(list, state.items.map(row));
    settle();
  }

  /** @param {Item} item */
  function add(item) {
    keys.add(key(item));
    state = { ...state, items: [item, ...state.items] };
    copyTo(name, state);
    list.prepend(row(item));
    settle();
  }

  return { root, reload, refresh, add, holds: (wanted) => keys.has(wanted) };
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
