// Paginated lists with the page in the address.

import { getCached, setCached, invalidate, isDenied } from "../../core/cache.js";
import { fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { address, goOrReopen } from "../../core/router.js";
import { button } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { icon } from "../../parts/icons.js";
import { skeletons } from "../../parts/skeleton.js";
import { staleNotice } from "./stale-notice.js";
import { keepFocus } from "../../parts/keep-focus.js";

/** @typedef {import("../../core/router.js").ScreenContext} ScreenContext */

/**
 * @template Row
 * @typedef {{rows: Row[], total?: number}} Page
 */
/**
 * @template Row
 * @typedef {object} Listing
 * @property {(current: number) => Promise<Page<Row>>} load loads a page, counted from 1
 * @property {number} size rows per page
 * @property {(rows: Row[], reload: () => Promise<void>, markStale: () => void) => Node} draw `reload`:
 * reloads after a change; `outdated`: marks other pages as stale and keeps the rows on screen
 * @property {() => Node} none content of an empty list
 */

/**
 * @template Row
 * @param {ScreenContext} context
 * @param {Listing<Row>} options
 * @returns {{root: HTMLElement, reload: () => Promise<void>}}
 */
export function listing({ params, signal, restoreScroll }, { load, size, draw, none }) {
  const current = Math.max(1, Number(params.current) || 1);
  const root = h("div", { class: "listing" }, skeletons(6, "2.75rem"));
  const cacheKey = `console ${address()}`;
  const replaceKeepingFocus = keepFocus(root);
  const nextSignal = signalSequence(signal);
  const cachedPage = /** @type {Page<Row> | undefined} */ (getCached(cacheKey));
  /** Prefix of the cache keys of all pages. */
  const path = address().split("?")[0];
  if (cachedPage) show(cachedPage);
  read(cachedPage);
  return { root, reload };

  function reload() {
    // All cached pages predate the change.
    invalidate(`console ${path}`);
    return read();
  }

  function markStale() {
    // Discards running requests, which predate the change.
    nextSignal();
    invalidate(`console ${path}`);
    // Removed items shift later pages: the next page would skip items.
    root.querySelector(".pager")?.replaceWith(button(t("接着看其余的", "Load the rest"), () => {
      // The new page starts at the top.
      scrollTo(0, 0);
      goOrReopen(withQuery({ current: "" }));
    }, { icon: "forward" }));
  }

  /** @param {Page<Row>} [fallback] cached page to keep on failure */
  async function read(fallback) {
    // Discards earlier requests.
    const requestSignal = nextSignal();
    try {
      const page = await load(current);
      if (requestSignal.aborted) return;
      setCached(cacheKey, page);
      show(page);
    } catch (error) {
      if (requestSignal.aborted) return;
      if (!fallback || isDenied(error)) replaceKeepingFocus(() => fill(root, errorState(error, reload)));
      else replaceKeepingFocus(() => {
        show(fallback);
        root.prepend(staleNotice(() => read(fallback)));
      });
    }
  }

  /** @param {Page<Row>} page */
  function show({ rows, total }) {
    replaceKeepingFocus(() => {
      if (rows.length === 0 && current === 1) fill(root, none());
      else fill(root, draw(rows, reload, markStale), pager(current, rows.length, size, total));
    });
    restoreScroll();
  }
}

/**
 * @param {number} current
 * @param {number} count rows on this page
 * @param {number} size rows on a full page
 * @param {number} [total]
 */
function pager(current, count, size, total) {
  const first = (current - 1) * size + 1;
  const last = first + count - 1;
  const hasNext = total === undefined ? count === size : last < total;
  const range = count === 0 ? t("这一页没有了", "Nothing on this page") : `${first}–${last}`;
  return h("nav", { class: "pager", "aria-label": t("翻页", "Pages") },
    h("span", { class: "quiet number" }, total === undefined ? range : t(`${range}，共 ${total}`, `${range} of ${total}`)),
    pageLink(current > 1 && current - 1, t("上一页", "Previous page"), "back"),
    pageLink(hasNext && current + 1, t("下一页", "Next page"), "forward"));
}

/**
 * @param {number | false} to
 * @param {string} label
 * @param {"back" | "forward"} drawing
 */
function pageLink(to, label, drawing) {
  if (to === false) return h("span", { class: "button round bare", "aria-hidden": "true", hidden: true }, icon(drawing));
  return h("a", { class: "button round bare", href: `#${withQuery({ current: to > 1 ? String(to) : "" })}`, "aria-label": label, title: label }, icon(drawing));
}

/**
 * Returns the current address with changed query parameters; empty values are removed.
 * @param {Record<string, string>} changes
 */
export function withQuery(changes) {
  const [path, query] = address().split("?");
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) parameters.set(name, value);
    else parameters.delete(name);
  }
  return parameters.size > 0 ? `${path}?${parameters}` : path;
}
