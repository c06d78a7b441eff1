// The way from the storefront to the counter on the same screen: staff hold the mall's name for three seconds,
// and type their PIN there.

import { keepKioskHome } from "../../core/kiosk-home.js";
import { endSession } from "./session.js";

const HOLD_MS = 3_000;

/**
 * Opens the counter when the element is held.
 * @template {HTMLElement} E
 * @param {E} element
 * @returns {E}
 */
export function openOnHold(element) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  element.addEventListener("pointerdown", () => (timer = setTimeout(openCounter, HOLD_MS)));
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) element.addEventListener(end, () => clearTimeout(timer));
  // A long press of a link opens a menu, or drags the link.
  for (const own of ["contextmenu", "dragstart"]) element.addEventListener(own, (event) => event.preventDefault());
  return element;
}

async function openCounter() {
  const ended = endSession();
  keepKioskHome();
  // A log-out without a network takes seconds, and the page has forgotten the customer already.
  await Promise.race([ended.catch(() => {}), new Promise((done) => setTimeout(done, 1_000))]);
  location.assign(new URL("console?kiosk", location.href));
}
