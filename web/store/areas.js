// Where the shops are, roughly: the parts of town, with the middle of their shops.

import { get } from "../core/api.js";
import { getCached, setCached } from "../core/copies.js";

/** @typedef {{area: string, x: number, y: number, shops: number}} Area `x` is degrees of longitude */

/**
 * Those with the most shops. They change so seldom that they are read once.
 * @param {AbortSignal} signal
 * @returns {Promise<Area[]>}
 */
export async function readAreas(signal) {
  const known = /** @type {Area[] | undefined} */ (getCached("areas"));
  // A mall that had no shops yet may have some by now.
  if (known?.length) return known;
  const areas = await get("/shop/areas", { signal });
  setCached("areas", areas);
  return areas;
}
