// What a kiosk's address says: `/?kiosk=90&shop=3&attract=30`.

import { isKiosk } from "../../core/local-storage.js";

const search = new URLSearchParams(location.search);

/** Time without input after which the session ends: `kiosk=90` in seconds, by default 60. */
export const IDLE_MS = seconds("kiosk", 60);

/** Time without input until the attract loop begins: `attract=30` in seconds, by default 30; 0 for no loop. */
export const ATTRACT_AFTER_MS = search.get("attract") === "0" ? Infinity : seconds("attract", 30);

/** The only shop of this kiosk, from `shop=3`. An id that is not a number belongs to no shop. */
export const ONLY_SHOP = isKiosk ? search.get("shop")?.replace(/^\D.*$/, "0") ?? null : null;

/**
 * @param {string} name
 * @param {number} otherwise
 * @returns {number} milliseconds
 */
function seconds(name, otherwise) {
  const value = Number(search.get(name));
  return (value > 0 ? value : otherwise) * 1_000;
}
