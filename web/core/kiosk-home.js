// The address of the kiosk's storefront, for the way back from the counter on the same screen.

/** Name of the stored address: of this window, until it is closed. */
const NAME = "mallbox-kiosk-home";

/** Notes that the counter is opened from this storefront. */
export function keepKioskHome() {
  try {
    sessionStorage.setItem(NAME, `${location.pathname}${location.search}`);
  } catch {
    // Storage is disabled: there is no way back but the browser's.
  }
}

/**
 * Returns the address of the storefront, if the counter was opened from one.
 * @returns {string | null}
 */
export function kioskHome() {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}
