// The address of the kiosk's storefront, for the way back from the counter on the same screen.

import { loadLocal, saveLocal } from "./local-storage.js";

/** Stays after a log-out at the counter. */
const NAME = "kiosk-home";

/** Notes that the counter is opened from this storefront. */
export function keepKioskHome() {
  saveLocal(NAME, `${location.pathname}${location.search}`);
}

/** Returns the address of the storefront, if the counter was opened from one. */
export function kioskHome() {
  return loadLocal(NAME);
}
