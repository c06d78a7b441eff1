// A list of the mall by pages, with the page in its address: it can be gone back to, and sent to somebody.

import { getCached, setCached, invalidate, isDenied } from "../../core/copies.js";
import { fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { address, goOrReopen } from "../../core/router.js";
import { button } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { icon } from "../../parts/icons.js";
import { skeletons } from "../../parts/skeleton.js";
import { oldNotice } from "./old-notice.js";
import { keepFocus } from "../../parts/keep-focus.js";

/** @typedef {import("../../core/router.js").ScreenContext} Showing */

/**
 * @template Row
 * @typedef {{rows: Row[], total?: number}} Page
 */
/**
 * @template Row
 * @typedef {object} Listing
 * @property {(current: number) => Promise<Page<Row>>} load a page, from 1
 * @property {number} size rows on a page
 * @property {(rows: Row[], reload: () => Promise<void>, outdated: () => void) => Node} draw `reload`: after something was done to
 * what it lists; `outdated`: the same, where what is shown stays to be seen
 * @property {() => Node} none what is shown where there is none
 */

/**
 * @template Row
 * @param {Showing} context
 * @param {Listing<Row>} options
 * @returns {{root: HTMLElement, reload: () => Promise<void>}}
 */
export function listing({ params, signal, restoreScroll }, { load, size, draw, none }) {
  const current = Math.max(1, Number(params.current) || 1);
  const root = h("div", { class: "listing" }, skeletons(6, "2.75rem"));
  const name = `console ${address()}`;
  const redraw = keepFocus(root);
  const reading = signalSequence(signal);
  const copy = /** @type {Page<Row> | undefined} */ (getCached(name));
  /** What lists this, whatever the page. */
  const path = address().split("?")[0];
  if (copy) show(copy);
  read(copy);
  return { root, reload };

  function reload() {
    // Copies show it as it was before that, on its other pages too.
    invalidate(`console ${path}`);
    return read();
  }

  function outdated() {
    // What is on its way is from before.
    reading();
    invalidate(`console ${path}`);
    // The next page would leave out as many as are not on the list any more.
    root.querySelector(".pager")?.replaceWith(button(t("接着看其余的", "Go on with the others"), () => {
      // One begins at its top.
      scrollTo(0, 0);
      goOrReopen(withQuery({ current: "" }));
    }, { icon: "forward" }));
  }

  /** @param {Page<Row>} [old] what is shown if nothing newer can be read */
  async function read(old) {
    // What was asked for before is of no use any more.
    const mine = reading();
    try {
      const page = await load(current);
      if (mine.aborted) return;
      setCached(name, page);
      show(page);
    } catch (error) {
      if (mine.aborted) return;
      if (!old || isDenied(error)) redraw(() => fill(root, errorState(error, reload)));
      else redraw(() => {
        show(old);
        root.prepend(oldNotice(() => read(old)));
      });
    }
  }

  /** @param {Page<Row>} page */
  function show({ rows, total }) {
    redraw(() => {
      if (rows.length === 0 && current === 1) fill(root, none());
      else fill(root, draw(rows, reload, outdated), pager(current, rows.length, size, total));
    });
    restoreScroll();
  }
}

/**
 * @param {number} current
 * @param {number} count rows on this page
 * @param {number} size rows on a full one
 * @param {number} [total]
 */
function pager(current, count, size, total) {
  const first = (current - 1) * size + 1;
  const last = first + count - 1;
  const goesOn = total === undefined ? count === size : last < total;
  const range = count === 0 ? t("这一页没有了", "Nothing on this page") : `${first}–${last}`;
  return h("nav", { class: "pager", "aria-label": t("翻页", "Pages") },
    h("span", { class: "quiet number" }, total === undefined ? range : t(`${range}，共 ${total}`, `${range} of ${total}`)),
    turn(current > 1 && current - 1, t("上一页", "Previous page"), "back"),
    turn(goesOn && current + 1, t("下一页", "Next page"), "forward"));
}

/**
 * @param {number | false} to
 * @param {string} label
 * @param {"back" | "forward"} drawing
 */
function turn(to, label, drawing) {
  if (to === false) return h("span", { class: "button round bare", "aria-hidden": "true", hidden: true }, icon(drawing));
  return h("a", { class: "button round bare", href: `#${withQuery({ current: to > 1 ? String(to) : "" })}`, "aria-label": label, title: label }, icon(drawing));
}

/**
 * The address that is shown, with another query: what is empty is left out.
 * @param {Record<string, string>} changes
 */
export function withQuery(changes) {
  const [path, query] = address().split("?");
  const wanted = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) wanted.set(name, value);
    else wanted.delete(name);
  }
  return wanted.size > 0 ? `${path}?${wanted}` : path;
}
