// A list with infinite scroll.

import { getCached, setCached } from "../core/cache.js";
import { fill, h } from "../core/dom.js";
import { t } from "../core/language.js";
import { errorState } from "./empty-state.js";
import { skeletons } from "./skeleton.js";

/**
 * @template Item, Next, Key
 * @typedef {object} InfiniteListOptions
 * @property {string} name cache key; a revisited list shows the cached items first
 * @property {(next: Next | undefined) => Promise<{items: Item[], next: Next | undefined}>} load loads a page,
 * the first one without `next`; no `next` in the result ends the list
 * @property {(item: Item) => Node} draw
 * @property {(item: Item) => Key} key identifies an item: an item that moved to the next page meanwhile is
 * shown once
 * @property {() => Node} none content of an empty list
 * @property {string} [look] CSS classes of the list
 * @property {string} [height] height of a placeholder
 * @property {AbortSignal} signal
 */

/**
 * @template Item, Key
 * @typedef {object} InfiniteList
 * @property {HTMLElement} root
 * @property {() => Promise<void>} reload discards all items and loads the first page
 * @property {() => Promise<void>} refresh reloads the first page and keeps the following ones; runs
 * automatically for a cached list
 * @property {(item: Item) => void} add inserts an item at the top
 * @property {(key: Key) => void} drop removes the item with the key
 * @property {() => Key[]} keys of all items shown so far, removed ones included
 */

/**
 * The loaded items, cached for revisits.
 * @template Item, Next
 * @typedef {{items: Item[], next: Next | undefined, isComplete: boolean, pages: number}} ListState
 */

/**
 * @template Item, Next, Key
 * @param {InfiniteListOptions<Item, Next, Key>} options
 * @returns {InfiniteList<Item, Key>}
 */
export function infiniteList({ name: cacheKey, load, draw: renderItem, key, none: renderEmpty, look: className = "stack", height = "7rem", signal }) {
  const list = h("ul", { class: className });
  let foot = h("div", { class: "stack" });
  const root = h("div", null, list, foot);
  /** @type {ListState<Item, Next>} */
  let state = { items: [], next: undefined, isComplete: false, pages: 0 };
  let isLoading = false;
  /** @type {Set<Key>} */
  let keys = new Set();
  /** @type {Map<Key, {item: Item, root: HTMLElement}>} */
  let rows = new Map();
  /** Incremented when the list is replaced; loads of an earlier generation are discarded. */
  let generation = 0;
  /** Incremented by changes and reloads; responses to earlier requests are discarded. */
  let requestCount = 0;
  /** @type {Promise<void> | null} */
  let refreshing = null;

  const sentinelObserver = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && loadMore(), { rootMargin: "600px" });
  signal.addEventListener("abort", () => sentinelObserver.disconnect());

  const cachedState = /** @type {ListState<Item, Next> | undefined} */ (getCached(cacheKey));
  if (cachedState) {
    state = cachedState;
    keys = new Set(state.items.map(key));
    renderRows();
  }
  resetSentinel();
  // The cached state may be stale.
  if (cachedState) refresh().catch(() => {});

  /** @param {Item} item */
  function renderRow(item) {
    return h("li", null, renderItem(item));
  }

  /** @param {number} count */
  function placeholders(count) {
    return h("div", { class: className }, skeletons(count, height));
  }

  async function loadMore() {
    if (isLoading || state.isComplete || signal.aborted) return;
    isLoading = true;
    const startedIn = generation;
    if (state.items.length === 0) fill(foot, placeholders(4));
    try {
      const { items, next } = await load(state.next);
      if (signal.aborted || startedIn !== generation) return;
      const fresh = items.filter((item) => !keys.has(key(item)));
      for (const item of fresh) keys.add(key(item));
      state = { items: [...state.items, ...fresh], next, isComplete: next === undefined, pages: state.pages + 1 };
      setCached(cacheKey, state);
      renderRows();
      // The sentinel may still be visible: loading goes on at once.
      isLoading = false;
      resetSentinel();
    } catch (error) {
      if (!signal.aborted && startedIn === generation) fill(foot, errorState(error, retry));
    } finally {
      if (startedIn === generation) isLoading = false;
    }
  }

  /** Replaces the sentinel: a moved element would count as a layout shift. */
  function resetSentinel() {
    const old = foot;
    foot = h("div", { class: "stack" });
    old.replaceWith(foot);
    sentinelObserver.unobserve(old);
    // Loads more if the new sentinel is visible.
    sentinelObserver.observe(foot);
    if (!state.isComplete) fill(foot, state.items.length > 0 && placeholders(1));
    else if (state.items.length === 0) fill(foot, renderEmpty());
    else fill(foot, h("p", { class: "quiet small endless-end" }, t("没有更多了", "No more items")));
  }

  async function retry() {
    fill(foot, placeholders(1));
    await loadMore();
  }

  async function reload() {
    const startedIn = (requestCount += 1);
    const { items, next } = await load(undefined);
    if (signal.aborted || startedIn !== requestCount) return;
    rows = new Map();
    replace({ items, next, isComplete: next === undefined, pages: 1 });
  }

  async function refresh() {
    // The first load is still running.
    if (state.pages === 0) return;
    refreshing ??= refreshFirstPage().finally(() => (refreshing = null));
    await refreshing;
  }

  async function refreshFirstPage() {
    const startedIn = (requestCount += 1);
    const { items, next } = await load(undefined);
    if (signal.aborted || startedIn !== requestCount) return;
    const merged = mergeFirstPage(items, next);
    if (JSON.stringify(merged) !== JSON.stringify(state)) replace(merged);
  }

  /**
   * Merges a fresh first page into the loaded items.
   * @param {Item[]} items
   * @param {Next | undefined} next
   * @returns {ListState<Item, Next>}
   */
  function mergeFirstPage(items, next) {
    // A single page, or a fresh page without overlap, replaces all items.
    if (state.pages <= 1 || next === undefined || !items.some((item) => keys.has(key(item)))) {
      return { items, next, isComplete: next === undefined, pages: 1 };
    }
    const fresh = new Map(items.map((item) => [key(item), item]));
    const old = state.items.map((item) => {
      const known = fresh.get(key(item));
      fresh.delete(key(item));
      return known ?? item;
    });
    return { ...state, items: [...fresh.values(), ...old] };
  }

  /** @param {ListState<Item, Next>} fresh */
  function replace(fresh) {
    generation += 1;
    isLoading = false;
    state = fresh;
    keys = new Set(state.items.map(key));
    setCached(cacheKey, state);
    renderRows();
    resetSentinel();
  }

  /** @param {Item} item */
  function add(item) {
    // Discards running loads, which do not know the item yet.
    requestCount += 1;
    keys.add(key(item));
    state = { ...state, items: [item, ...state.items] };
    setCached(cacheKey, state);
    renderRows();
    resetSentinel();
  }

  /** @param {Key} dropped */
  function drop(dropped) {
    // Discards running loads, which still contain the item; `keys` keeps the key, so that no page brings the
    // item back.
    requestCount += 1;
    state = { ...state, items: state.items.filter((item) => key(item) !== dropped) };
    setCached(cacheKey, state);
    renderRows();
    resetSentinel();
  }

  /** Renders changed items only: unchanged rows keep their elements, with focus and local state. */
  function renderRows() {
    const old = rows;
    rows = new Map(state.items.map((item) => {
      const known = old.get(key(item));
      const isSame = known && (known.item === item || JSON.stringify(known.item) === JSON.stringify(item));
      return [key(item), isSame ? known : { item, root: renderRow(item) }];
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
 * Adapts a list with page numbers.
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
