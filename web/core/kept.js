// What the browser keeps between visits. One that keeps nothing, or has no room, keeps it as long as the page is open.

const PREFIX = "mallbox-";
/** What could not be kept, for as long as the page is open. @type {Map<string, string>} */
const held = new Map();

/**
 * @param {string} name
 * @returns {string | null}
 */
export function kept(name) {
  try {
    return held.get(name) ?? store().getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string | null} value `null` forgets it
 */
export function keep(name, value) {
  held.delete(name);
  try {
    if (value === null) store().removeItem(PREFIX + name);
    else store().setItem(PREFIX + name, value);
  } catch {
    if (value !== null) held.set(name, value);
  }
}

/** As if nobody had been here. */
export function forgetAll() {
  held.clear();
  try {
    for (const name of Object.keys(store())) if (name.startsWith(PREFIX)) store().removeItem(name);
  } catch {
    // It kept nothing.
  }
}

/**
 * When another window of the same browser keeps something else by this name.
 * @param {string} name
 * @param {(value: string | null) => void} what
 */
export function onKeptElsewhere(name, what) {
  addEventListener("storage", ({ key, newValue, storageArea }) => storageArea === store() && key === PREFIX + name && what(newValue));
}

/** A kiosk is used by one person after the other: what it keeps ends with its window. */
export const isKiosk = new URLSearchParams(location.search).has("kiosk");

function store() {
  return isKiosk ? sessionStorage : localStorage;
}
