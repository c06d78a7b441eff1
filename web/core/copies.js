// What was read last, shown at once when a screen opens again, until the mall has answered anew.

import { Refusal } from "./api.js";

/** @type {Map<string, unknown>} */
const copies = new Map();
/** As many as somebody goes back to. */
const MOST = 200;

/**
 * Shows the copy if there is one, then what is read. A mall in trouble, or one that does not answer, leaves the copy where it is;
 * if it says that there is no such thing, or not for this reader, the copy is gone.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} fetched
 * @param {(what: T) => void} show
 * @returns {Promise<boolean>} whether what is shown is not the copy
 */
export async function shown(name, fetched, show) {
  const copy = copyOf(name);
  if (copy !== undefined) show(/** @type {T} */ (copy));
  try {
    const fresh = await fetched();
    copyTo(name, fresh);
    show(fresh);
    return true;
  } catch (error) {
    if (isDenied(error)) copies.delete(name);
    if (copy === undefined || isDenied(error)) throw error;
    return false;
  }
}

/**
 * Reads anew what is shown; where that fails it stays as it is.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} fetched
 * @param {(what: T) => void} show
 * @returns {Promise<void>}
 */
export async function renewed(name, fetched, show) {
  const fresh = await fetched().catch(() => undefined);
  if (fresh === undefined) return;
  copyTo(name, fresh);
  show(fresh);
}

/**
 * Whether the mall said that there is no such thing, or not for this reader.
 * @param {unknown} error
 */
export function isDenied(error) {
  return error instanceof Refusal && !error.isTrouble;
}

/**
 * @param {string} name
 * @returns {unknown}
 */
export function copyOf(name) {
  return copies.get(name);
}

/**
 * @param {string} name
 * @param {unknown} what
 */
export function copyTo(name, what) {
  copies.delete(name);
  copies.set(name, what);
  const oldest = copies.keys().next().value;
  if (copies.size > MOST && oldest !== undefined) copies.delete(oldest);
}

/**
 * Of names that begin so; of all of them unless told.
 * @param {string} [beginning]
 */
export function forget(beginning = "") {
  for (const name of copies.keys()) if (name.startsWith(beginning)) copies.delete(name);
}
