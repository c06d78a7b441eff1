// Buying an ordinary voucher, once: however often it is asked for, until somebody has said what became of it.

import { Refusal, Unreachable, call } from "../core/api.js";
import { forget } from "../core/copies.js";
import { keep, kept } from "../core/kept.js";

/** When it is asked for again that nobody answered: after so many milliseconds each. */
const AGAIN_MS = [700, 2_500];
const PATIENCE_MS = 4_000;

/**
 * @param {number} voucher
 * @returns {Promise<string>} the order
 */
export async function buy(voucher) {
  // The mall knows a purchase again by this name. It is kept until there is an answer, even if that is tomorrow.
  const name = `buying-${voucher}`;
  const requestId = kept(name) ?? random();
  keep(name, requestId);
  for (const wait of AGAIN_MS) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
    await new Promise((done) => setTimeout(done, wait));
  }
  return ask();

  async function ask() {
    try {
      const { dataText } = await call("POST", `/voucher-order/${voucher}`, { body: { requestId }, patience: PATIENCE_MS });
      keep(name, null);
      forget("orders");
      return /** @type {string} */ (dataText);
    } catch (error) {
      if (error instanceof Refusal && !error.isTrouble) keep(name, null);
      throw error;
    }
  }
}

/** Not `randomUUID`: that is missing where a page comes without HTTPS. */
function random() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
