// A kiosk is used by one person after the other: when nobody touches it, it logs out, forgets who was there, and shows its
// start.

import { hasToken } from "../core/api.js";
import { invalidate } from "../core/copies.js";
import { h } from "../core/dom.js";
import { clearLocal } from "../core/kept.js";
import { t, resetLanguage } from "../core/language.js";
import { address, reopen, go } from "../core/router.js";
import { logOut } from "../core/session.js";
import { button } from "../parts/button.js";
import { openSheet } from "../parts/sheet.js";

/** `/?kiosk=90`: so many seconds without a touch. */
const IDLE_MS = (Number(new URLSearchParams(location.search).get("kiosk")) || 60) * 1_000;
const WARNED_MS = Math.min(10_000, IDLE_MS / 2);
const TOUCHES = ["pointerdown", "keydown", "wheel", "touchmove"];

let touched = performance.now();
/** Whether it is as it was for the first one; one that was loaded again may not be. */
let isFresh = !hasToken() && address() === "/";
let isWarning = false;

export function runKiosk() {
  document.documentElement.classList.add("kiosk");
  for (const name of TOUCHES) addEventListener(name, touch, { capture: true, passive: true });
  setInterval(check, 250);
}

/** The next one begins at the start. */
export async function finish() {
  isFresh = true;
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  const left = logOut();
  clearLocal();
  invalidate();
  resetLanguage();
  // Before: where a screen was left is where it is shown again.
  scrollTo(0, 0);
  if (address() === "/") reopen();
  else go("/", { replace: true });
  await left;
}

function touch() {
  touched = performance.now();
  isFresh = false;
}

function check() {
  const rest = touched + IDLE_MS - performance.now();
  if (isFresh) return;
  if (rest <= 0) finish();
  // At the start there is nothing that somebody could lose.
  else if (rest <= WARNED_MS && !isWarning && (hasToken() || address() !== "/")) warn();
}

async function warn() {
  isWarning = true;
  const left = h("strong", { class: "number", role: "timer" });
  /** @type {ReturnType<typeof setInterval>} */
  let timer;
  await openSheet(t("还在吗？", "Still there?"), (close) => {
    const show = () => {
      const rest = touched + IDLE_MS - performance.now();
      left.textContent = String(Math.max(0, Math.ceil(rest / 1_000)));
      // Not at the touch itself: that would go on to what lies below.
      if (rest > WARNED_MS) close();
    };
    show();
    timer = setInterval(show, 250);
    return [h("p", null, t("将在 ", "Back to the start in "), left, t(" 秒后退出并回到首页。", " s, and you are logged out.")),
      h("div", { class: "buttons" }, button(t("现在退出", "Leave now"), finish), button(t("继续", "Go on"), close, { look: ["main"] }))];
  }).finally(() => clearInterval(timer));
  isWarning = false;
}
