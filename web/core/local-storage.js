// Persistent settings in the browser's storage, with a fallback to memory if storage is full or disabled.

const PREFIX = "mallbox-";
/**
 * Beginnings of the names of entries that stay after a log-out: settings of the device, its till, its ticket
 * for guarded sales, the storefront of a counter, and the request ids of purchases in doubt, without which a
 * user might buy twice.
 */
export const KEPT_AFTER_LOG_OUT = ["language", "scheme", "device-ticket", "till", "kiosk-home", "buying-"];
/** Values that could not be stored; lost when the page closes. @type {Map<string, string>} */
const fallback = new Map();

/**
 * @param {string} name
 * @returns {string | null}
 */
export function loadLocal(name) {
  try {
    return fallback.get(name) ?? webStorage().getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string | null} value `null` deletes the entry
 */
export function saveLocal(name, value) {
  fallback.delete(name);
  try {
    if (value === null) webStorage().removeItem(PREFIX + name);
    else webStorage().setItem(PREFIX + name, value);
  } catch {
    if (value !== null) fallback.set(name, value);
  }
}

/**
 * Deletes the entries of the mall.
 * @param {string[]} [kept] beginnings of the names of entries that stay
 */
export function clearLocal(kept = []) {
  const isKept = (/** @type {string} */ name) => kept.some((beginning) => name.startsWith(beginning));
  for (const name of fallback.keys()) if (!isKept(name)) fallback.delete(name);
  try {
    const names = Object.keys(webStorage()).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
    for (const name of names) if (!isKept(name)) webStorage().removeItem(PREFIX + name);
  } catch {
    // Storage is disabled.
  }
}

/**
 * Calls `listener` when another window of the same browser changes the entry.
 * @param {string} name
 * @param {(value: string | null) => void} listener
 */
export function onLocalChange(name, listener) {
  addEventListener("storage", ({ key, newValue, storageArea }) => storageArea === webStorage() && key === PREFIX + name && listener(newValue));
}

/** Kiosk mode. Visitors share the device, so storage ends with the window. */
export const isKiosk = new URLSearchParams(location.search).has("kiosk");

function webStorage() {
  return isKiosk ? sessionStorage : localStorage;
}
