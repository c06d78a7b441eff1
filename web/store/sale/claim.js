// One press of the button, until it is known what became of it. A claim can be repeated: whoever has bought is told the order,
// so nobody buys twice.

import { Refusal, Unreachable, call, get, isReachable, onReachable, onToken } from "../../core/api.js";
import { delay } from "../../core/moments.js";
import { STATUS } from "../orders.js";

/**
 * @typedef {object} Outcome
 * @property {string} [order] that one has now
 * @property {boolean} [isNew] bought just now
 * @property {Refusal} [refusal] why one has none
 * @property {boolean} [isNothing] no answer ever came, and one has none
 */

/** How long an answer is waited for; the mall gives up sooner. */
const PATIENCE_MS = 4_000;
/** When the claim is repeated that nobody answered: after so many milliseconds each. */
const AGAIN_MS = [500, 1_500, 4_000];

/**
 * A claim that is under way. It belongs to who made it, and to no screen: one that is left and opened again goes on with it.
 * @typedef {object} Claiming
 * @property {Promise<Outcome>} outcome
 * @property {boolean} isLost no answer came, and it is being found out
 * @property {Set<() => void>} watchers told when that happens
 */

/** @type {Map<string, Claiming>} */
const running = new Map();
let person = new AbortController();
// Nothing is bought for who logs in next.
onToken(() => {
  person.abort();
  person = new AbortController();
  running.clear();
});

/**
 * What is under way for a voucher, if anything is.
 * @param {string} voucher
 * @returns {Claiming | undefined}
 */
export function claiming(voucher) {
  return running.get(voucher);
}

/**
 * @param {string} voucher
 * @returns {Claiming}
 */
export function claim(voucher) {
  const mine = running.get(voucher);
  if (mine) return mine;
  /** @type {Claiming} */
  const begun = { outcome: Promise.resolve({}), isLost: false, watchers: new Set() };
  const lost = () => {
    begun.isLost = true;
    for (const watcher of begun.watchers) watcher();
  };
  begun.outcome = findOut(voucher, lost, person.signal).finally(() => {
    if (running.get(voucher) === begun) running.delete(voucher);
  });
  running.set(voucher, begun);
  return begun;
}

/**
 * @param {string} voucher
 * @param {() => void} lost told when no answer came
 * @param {AbortSignal} signal of the person
 * @returns {Promise<Outcome>}
 */
async function findOut(voucher, lost, signal) {
  let isFirst = true;
  for (const wait of [...AGAIN_MS, 0]) {
    const outcome = await claimOnce(voucher, signal);
    // That nobody is logged in any more is for who pressed; all else is not for who is there now.
    if (outcome?.refusal?.status !== 401) signal.throwIfAborted();
    // Bought by a claim whose answer was lost.
    if (outcome) return outcome.order && !isFirst ? { ...outcome, isNew: true } : outcome;
    lost();
    isFirst = false;
    await delay(wait);
  }
  for (;;) {
    await reached(signal);
    try {
      const order = await held(voucher, signal);
      return order ? { order, isNew: true } : { isNothing: true };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
  }
}

/**
 * The order that one has of this voucher, as far as the newest ones tell: on its way, unpaid, paid or used.
 * @param {string} voucher
 * @param {AbortSignal} [signal]
 * @returns {Promise<string | undefined>}
 */
export async function held(voucher, signal) {
  /** @type {import("../orders.js").Order[]} */
  const orders = (await get("/voucher-order/of/me", { query: { current: 1 }, signal })) ?? [];
  return orders.find((order) => String(order.voucherId) === voucher && order.status <= STATUS.used)?.id;
}

/**
 * @param {string} voucher
 * @param {AbortSignal} signal
 * @returns {Promise<Outcome | null>} `null`: no answer
 */
async function claimOnce(voucher, signal) {
  signal.throwIfAborted();
  try {
    const { dataText } = await call("POST", `/voucher-order/seckill/${voucher}`, { timeoutMs: PATIENCE_MS });
    return { order: dataText, isNew: true };
  } catch (error) {
    if (error instanceof Unreachable) return null;
    if (!(error instanceof Refusal)) throw error;
    if (error.code === "ALREADY_BOUGHT") return { order: error.answer.dataText, isNew: false };
    // A mall in trouble may have taken it all the same.
    const order = error.status >= 500 ? await held(voucher, signal).catch(() => undefined) : undefined;
    return order ? { order, isNew: true } : { refusal: error };
  }
}

/** @param {AbortSignal} signal */
function reached(signal) {
  return new Promise((done, gone) => {
    if (signal.aborted) gone(signal.reason);
    else if (isReachable()) done(undefined);
    onReachable(() => isReachable() && done(undefined), signal);
    signal.addEventListener("abort", () => gone(signal.reason));
  });
}
