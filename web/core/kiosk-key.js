// The key of a trusted kiosk. It belongs to the device, not to a customer: it stays when the kiosk forgets a
// customer.

import { loadDevice, saveDevice } from "./device-storage.js";
import { isKiosk } from "./local-storage.js";

/** Name of the stored key. */
const NAME = "kiosk-key";
/** Beginning of the fragment of the link that brings the key. */
const FRAGMENT = "#kiosk-key=";

let isRefused = false;

/** Stores the key of a kiosk's link, and removes it from the address. */
export function takeKioskKey() {
  if (!location.hash.startsWith(FRAGMENT)) return;
  // Where storage is disabled, buyers take the check.
  saveDevice(NAME, location.hash.slice(FRAGMENT.length));
  history.replaceState(history.state, "", `${location.pathname}${location.search}`);
}

/**
 * Returns the key, if this is a trusted kiosk.
 * @returns {string | null}
 */
export function kioskKey() {
  return isKiosk && !isRefused ? loadDevice(NAME) : null;
}

/** Uses the key no more until the page is loaded again: the mall does not trust it. */
export function refuseKioskKey() {
  isRefused = true;
}
