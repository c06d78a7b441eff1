// Kiosk mode for shared devices: after an idle time the kiosk logs out, deletes all local data and shows the
// welcome screen, and later the attract loop.

import { idleMs, isPressed, watchActivity } from "../../core/activity.js";
import { hasToken, isReachable, onReachable } from "../../core/api.js";
import { invalidate } from "../../core/cache.js";
import { h } from "../../core/dom.js";
import { clearLocal } from "../../core/local-storage.js";
import { t, resetLanguage } from "../../core/language.js";
import { address, reopen, go } from "../../core/router.js";
import { logOut } from "../../core/session.js";
import { button } from "../../parts/button.js";
import { openSheet } from "../../parts/sheet.js";
import { openAttractLoop } from "./attract-loop.js";
import { ATTRACT_AFTER_MS, IDLE_MS } from "./options.js";
import { endReach } from "./reach.js";

const WARNING_MS = Math.min(10_000, IDLE_MS / 2);
/** Time after the last activity in which the warning stays, for a press to end on the button that it began on. */
const SETTLE_MS = 500;

/** Whether nobody has used the kiosk since the last reset. False after a reload with leftover state. */
let isPristine = !hasToken() && address() === "/";
let isWarning = false;

export function startKiosk() {
  document.documentElement.classList.add("kiosk");
  watchActivity(() => (isPristine = false));
  setInterval(checkIdle, 250);
  // The mall may have come back in another version.
  onReachable(() => isReachable() && isPristine && location.reload());
}

/** Ends the visitor's session and shows the welcome screen. */
export async function endSession() {
  isPristine = true;
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  const loggedOut = logOut();
  clearLocal();
  invalidate();
  resetLanguage();
  endReach();
  // Before navigation, which records the scroll position.
  scrollTo(0, 0);
  if (address() === "/") reopen();
  else go("/", { replace: true });
  await loggedOut;
}

function checkIdle() {
  const remainingMs = IDLE_MS - idleMs();
  if (isPristine) {
    if (idleMs() >= ATTRACT_AFTER_MS && address() === "/") openAttractLoop();
    return;
  }
  if (remainingMs <= 0) endSession();
  // On the welcome screen nothing can be lost.
  else if (remainingMs <= WARNING_MS && !isWarning && (hasToken() || address() !== "/")) showWarning();
}

async function showWarning() {
  isWarning = true;
  const left = h("strong", { class: "number", role: "timer" });
  /** @type {ReturnType<typeof setInterval>} */
  let timer;
  await openSheet(t("还在吗？", "Are you still there?"), (close) => {
    const show = () => {
      const remainingMs = IDLE_MS - idleMs();
      left.textContent = String(Math.max(0, Math.ceil(remainingMs / 1_000)));
      // Not during the touch itself, which would then hit the page below.
      if (remainingMs > WARNING_MS && !isPressed() && idleMs() > SETTLE_MS) close();
    };
    show();
    timer = setInterval(show, 250);
    return [h("p", null, t("将在 ", "You will be logged out in "), left, t(" 秒后退出并回到首页。", " s.")),
      h("div", { class: "buttons" }, button(t("现在退出", "Log out now"), endSession), button(t("继续", "Continue"), close, { look: ["main"] }))];
  }).finally(() => clearInterval(timer));
  isWarning = false;
}
