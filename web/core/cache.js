// A memory cache of data read from the API: screens show cached data at once and revalidate in the
// background.

import { Refusal } from "./api.js";

/** @type {Map<string, unknown>} */
const entries = new Map();
/** Oldest entries are evicted first. */
const MAX_ENTRIES = 200;

/**
 * Shows the cached value, if any, then loads and shows the fresh one (stale-while-revalidate). While the
 * server is unreachable or failing, the cached value stays. A refusal, such as not found, evicts the entry.
 * @template T
 * @param {string} key
 * @param {() => Promise<T>} load
 * @param {(value: T) => void} show
 * @returns {Promise<boolean>} whether the fresh value is shown
 */
export async function staleWhileRevalidate(key, load, show) {
  const cached = getCached(key);
  if (cached !== undefined) show(/** @type {T} */ (cached));
  try {
    const fresh = await load();
    setCached(key, fresh);
    show(fresh);
    return true;
  } catch (error) {
    if (isDenied(error)) entries.delete(key);
    if (cached === undefined || isDenied(error)) throw error;
    return false;
  }
}

/**
 * Loads and shows the fresh value. On failure the screen stays as it is.
 * @template T
 * @param {string} key
 * @param {() => Promise<T>} load
 * @param {(value: T) => void} show
 * @returns {Promise<void>}
 */
export async function revalidate(key, load, show) {
  const fresh = await load().catch(() => undefined);
  if (fresh === undefined) return;
  setCached(key, fresh);
  show(fresh);
}

/**
 * Whether the mall refused the request, as opposed to failing.
 * @param {unknown} error
 */
export function isDenied(error) {
  return error instanceof Refusal && !error.isTrouble;
}

/**
 * @param {string} key
 * @returns {unknown}
 */
export function getCached(key) {
  return entries.get(key);
}

/**
 * @param {string} key
 * @param {unknown} value
 */
export function setCached(key, value) {
  entries.delete(key);
  entries.set(key, value);
  const oldest = entries.keys().next().value;
  if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
}

/**
 * Evicts all entries whose key starts with `prefix`; the whole cache by default.
 * @param {string} [prefix]
 */
export function invalidate(prefix = "") {
  for (const key of entries.keys()) if (key.startsWith(prefix)) entries.delete(key);
}
