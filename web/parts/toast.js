// Short messages over the page, read aloud as well. They cover no button if there is room elsewhere, and go with their page.

import { Refusal, Unreachable } from "../core/api.js";
import { h } from "../core/dom.js";
import { both } from "../core/language.js";

const SHOWN_MS = 4_000;
/** A message as young as this belongs to the page that is being opened: "Published", and on to the note. */
const YOUNG_MS = 1_000;
/** Classes of the places, in order of preference. */
const PLACES = ["toasts", "toasts at-head", "toasts at-middle"];
const PRESSED = "button, .button, input, select, textarea, summary, .tab";

const list = h("div", { class: PLACES[0], role: "status", "aria-live": "polite" });
document.body.append(list);
/** @type {WeakMap<Element, number>} */
const born = new WeakMap();

/** What is below the messages may be drawn anew while they are shown. */
const redrawn = new MutationObserver(() => {
  if (list.childElementCount === 0) redrawn.disconnect();
  else giveWay();
});

addEventListener("hashchange", () => {
  for (const toast of [...list.children]) if (performance.now() - (born.get(toast) ?? 0) > YOUNG_MS) toast.remove();
});

/**
 * @param {string} text
 * @param {{bad?: boolean}} [how]
 */
export function say(text, { bad = false } = {}) {
  const toast = h("p", { class: bad ? "toast bad" : "toast" }, text);
  // What is not in an open dialog is behind it.
  const dialog = document.querySelector("dialog[open]");
  if (dialog && !dialog.contains(list)) {
    dialog.append(list);
    dialog.addEventListener("close", () => document.body.append(list), { once: true });
  }
  born.set(toast, performance.now());
  list.append(toast);
  giveWay();
  redrawn.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => toast.remove(), SHOWN_MS);
}

/** Puts the messages where they cover the fewest buttons and inputs. */
function giveWay() {
  const page = document.querySelector("dialog[open]") ?? document.body;
  const boxes = [...page.querySelectorAll(PRESSED)].map((one) => one.getBoundingClientRect()).filter(({ width }) => width > 0);
  let least = Infinity;
  let best = PLACES[0];
  for (const place of PLACES) {
    list.className = place;
    const toasts = [...list.children].map((toast) => toast.getBoundingClientRect());
    const covered = boxes.filter((box) => toasts.some((toast) => meet(box, toast))).length;
    if (covered < least) [least, best] = [covered, place];
  }
  list.className = best;
}

/**
 * @param {DOMRect} one
 * @param {DOMRect} other
 */
function meet(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/**
 * What went wrong, in words for whoever sees the page.
 * @param {unknown} error
 */
export function tell(error) {
  // Somebody went on to something else.
  if (error instanceof DOMException && error.name === "AbortError") return;
  say(reason(error), { bad: true });
}

/**
 * @param {unknown} error
 * @returns {string}
 */
export function reason(error) {
  if (error instanceof Refusal) return error.message;
  if (error instanceof Unreachable) return both("连不上商城，请稍后再试", "The mall does not answer; try again in a moment");
  console.error(error);
  return both("页面出了点问题", "Something went wrong on this page");
}
