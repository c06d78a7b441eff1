// Districts: the areas of the town, each with the centre of its shops.

import { get } from "../core/api.js";
import { getCached, setCached } from "../core/cache.js";

/** @typedef {{area: string, x: number, y: number, shops: number}} Area `x` is degrees of longitude */

/**
 * Reads the districts with the most shops. Cached for the session, since they seldom change.
 * @param {AbortSignal} signal
 * @returns {Promise<Area[]>}
 */
export async function readAreas(signal) {
  const known = /** @type {Area[] | undefined} */ (getCached("areas"));
  // An empty list is not cached: the first shop may be created later.
  if (known?.length) return known;
  const areas = await get("/shop/areas", { signal });
  setCached("areas", areas);
  return areas;
}
