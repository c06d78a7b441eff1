// Buying an ordinary voucher, once: however often it is asked for, until somebody has said what became of it.

import { Refusal, Unreachable, call } from "../core/api.js";
import { invalidate } from "../core/copies.js";
import { saveLocal, loadLocal } from "../core/kept.js";
import { delay } from "../core/moments.js";
import { newRequestId } from "../core/request-id.js";
import { me } from "../core/session.js";

/** When it is asked for again that nobody answered: after so many milliseconds each. */
const AGAIN_MS = [700, 2_500];
const PATIENCE_MS = 4_000;
/** The status of a refusal that is about the purchase, and not about who asks or how the mall is. */
const DECIDED = 200;

/**
 * @param {number} voucher
 * @returns {Promise<string>} the order
 */
export async function buy(voucher) {
  // The mall knows a purchase of somebody's again by its request. That is kept until it has said what became of it, even if
  // one has to log in again before, or that is tomorrow.
  const name = `buying-${(await me())?.id}-${voucher}`;
  const request = loadLocal(name) ?? newRequestId();
  saveLocal(name, request);
  for (const wait of AGAIN_MS) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
    await delay(wait);
  }
  return ask();

  async function ask() {
    try {
      const { dataText } = await call("POST", `/voucher-order/${voucher}`, { body: { requestId: request }, timeoutMs: PATIENCE_MS });
      saveLocal(name, null);
      invalidate("orders");
      return /** @type {string} */ (dataText);
    } catch (error) {
      if (error instanceof Refusal && error.status === DECIDED) saveLocal(name, null);
      throw error;
    }
  }
}
