// What the browser keeps between visits. One that keeps nothing still shows every page.

const PREFIX = "mallbox-";

/**
 * @param {string} name
 * @returns {string | null}
 */
export function kept(name) {
  try {
    return store().getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string | null} value `null` forgets it
 */
export function keep(name, value) {
  try {
    if (value === null) store().removeItem(PREFIX + name);
    else store().setItem(PREFIX + name, value);
  } catch {
    // Then it is asked for again next time.
  }
}

/** As if nobody had been here. */
export function forgetAll() {
  try {
    for (const name of Object.keys(store())) if (name.startsWith(PREFIX)) store().removeItem(name);
  } catch {
    // It kept nothing.
  }
}

/** A kiosk is used by one person after the other: what it keeps ends with its window. */
export const isKiosk = new URLSearchParams(location.search).has("kiosk");

function store() {
  return isKiosk ? sessionStorage : localStorage;
}
