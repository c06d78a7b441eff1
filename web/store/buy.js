// Purchase of an ordinary voucher, at most once: repeated with the same idempotency key until the outcome is
// known.

import { Refusal, Unreachable, call } from "../core/api.js";
import { invalidate } from "../core/cache.js";
import { saveLocal, loadLocal } from "../core/local-storage.js";
import { delay } from "../core/server-time.js";
import { newRequestId } from "../core/request-id.js";
import { me } from "../core/session.js";

/** Delays before the retries of a request without a response, in milliseconds. */
const RETRY_DELAYS_MS = [700, 2_500];
const TIMEOUT_MS = 4_000;
/** HTTP status of a refusal of the purchase itself, as opposed to errors of session or server. */
const REFUSED_STATUS = 200;

/**
 * @param {number} voucher
 * @returns {Promise<string>} the order's id
 */
export async function buy(voucher) {
  // The server recognizes a repeated purchase by its request id. The id is stored until the outcome is known,
  // even across a new login or until tomorrow.
  const storageKey = `buying-${(await me())?.id}-${voucher}`;
  const requestId = loadLocal(storageKey) ?? newRequestId();
  saveLocal(storageKey, requestId);
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
    await delay(delayMs);
  }
  return attempt();

  async function attempt() {
    try {
      const { dataText } = await call("POST", `/voucher-order/${voucher}`, { body: { requestId }, timeoutMs: TIMEOUT_MS });
      saveLocal(storageKey, null);
      invalidate("orders");
      return /** @type {string} */ (dataText);
    } catch (error) {
      if (error instanceof Refusal && error.status === REFUSED_STATUS) saveLocal(storageKey, null);
      throw error;
    }
  }
}
