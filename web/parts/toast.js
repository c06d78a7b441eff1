// Toasts: short messages above the page, announced to screen readers. They avoid covering controls and close
// on navigation.

import { Refusal, Unreachable } from "../core/api.js";
import { h } from "../core/dom.js";
import { t } from "../core/language.js";

const SHOWN_MS = 4_000;
/** A toast younger than this survives navigation: "Published" is shown on the note that opens next. */
const SURVIVES_NAVIGATION_MS = 1_000;
/** CSS classes of the positions, in order of preference. */
const PLACES = ["toasts", "toasts at-head", "toasts at-middle"];
const CONTROLS = "button, .button, input, select, textarea, summary, .tab";

const list = h("div", { class: PLACES[0], role: "status", "aria-live": "polite" });
document.body.append(list);
/** @type {WeakMap<Element, number>} */
const shownAt = new WeakMap();

/** The page below may change while toasts are shown. */
const pageObserver = new MutationObserver(() => {
  if (list.childElementCount === 0) pageObserver.disconnect();
  else moveOutOfTheWay();
});

addEventListener("hashchange", () => {
  for (const toast of [...list.children]) if (performance.now() - (shownAt.get(toast) ?? 0) > SURVIVES_NAVIGATION_MS) toast.remove();
});

/**
 * @param {string} text
 * @param {{bad?: boolean}} [options]
 */
export function showToast(text, { bad = false } = {}) {
  const toast = h("p", { class: bad ? "toast bad" : "toast" }, text);
  // A modal dialog hides everything outside.
  const dialog = document.querySelector("dialog[open]");
  if (dialog && !dialog.contains(list)) {
    dialog.append(list);
    dialog.addEventListener("close", () => document.body.append(list), { once: true });
  }
  shownAt.set(toast, performance.now());
  list.append(toast);
  moveOutOfTheWay();
  pageObserver.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => toast.remove(), SHOWN_MS);
}

/** Moves the toasts to the position that covers the fewest controls. */
function moveOutOfTheWay() {
  const page = document.querySelector("dialog[open]") ?? document.body;
  const boxes = [...page.querySelectorAll(CONTROLS)].map((one) => one.getBoundingClientRect()).filter(({ width }) => width > 0);
  let fewest = Infinity;
  let best = PLACES[0];
  for (const place of PLACES) {
    list.className = place;
    const toasts = [...list.children].map((toast) => toast.getBoundingClientRect());
    const covered = boxes.filter((box) => toasts.some((toast) => overlap(box, toast))).length;
    if (covered < fewest) [fewest, best] = [covered, place];
  }
  list.className = best;
}

/**
 * @param {DOMRect} first
 * @param {DOMRect} second
 */
function overlap(first, second) {
  return first.left < second.right && second.left < first.right && first.top < second.bottom && second.top < first.bottom;
}

/**
 * Shows the message of an error as a toast.
 * @param {unknown} error
 */
export function showError(error) {
  // The request was cancelled by navigation.
  if (error instanceof DOMException && error.name === "AbortError") return;
  showToast(errorMessage(error), { bad: true });
}

/**
 * @param {unknown} error
 * @returns {string}
 */
export function errorMessage(error) {
  if (error instanceof Refusal) return error.message;
  if (error instanceof Unreachable) return t("连不上商城，请稍后再试", "Cannot reach the mall. Try again in a moment.");
  console.error(error);
  return t("页面出了点问题", "Something went wrong on this page");
}
