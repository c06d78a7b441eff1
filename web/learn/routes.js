// Addresses within the page: `#/`, `#/chapter`, `#/chapter/rung`, `#/chapter/rung/trigger`.

/**
 * @typedef {object} Route
 * @property {string} chapter empty: the overview
 * @property {string} rung
 * @property {string} trigger
 */

/** @returns {Route} */
export function currentRoute() {
  const [chapter = "", rung = "", trigger = ""] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  return { chapter, rung, trigger };
}

/** @param {...string} parts */
export function addressOf(...parts) {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}
