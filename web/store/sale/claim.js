// A claim of a flash sale, repeated until the outcome is known. Claims are idempotent: a repeated claim
// returns the existing order, so nobody buys twice.

import { Refusal, Unreachable, call, get, isReachable, onReachable, onToken } from "../../core/api.js";
import { delay } from "../../core/server-time.js";
import { STATUS } from "../orders.js";
import { claimHeaders, forgetAdmission, forgetPass, refusePass } from "./passes.js";

/**
 * @typedef {object} Outcome
 * @property {string} [order] the user's order
 * @property {boolean} [isNew] whether this claim created the order
 * @property {Refusal} [refusal] reason for having no order
 * @property {boolean} [isNothing] no response arrived, and no order exists
 */

/** The server times out sooner. */
const TIMEOUT_MS = 4_000;
/** Delays before the retries of a claim without a response, in milliseconds. */
const RETRY_DELAYS_MS = [500, 1_500, 4_000];

/**
 * A running claim. It belongs to the user, not to a screen: a reopened screen follows the same claim.
 * @typedef {object} RunningClaim
 * @property {Promise<Outcome>} outcome
 * @property {boolean} isLost no response arrived; the outcome is being determined
 * @property {Set<() => void>} watchers called when a response is lost
 */

/** @type {Map<string, RunningClaim>} */
const running = new Map();
let userSession = new AbortController();
// A claim ends with its user's session.
onToken(() => {
  userSession.abort();
  userSession = new AbortController();
  running.clear();
});

/**
 * Returns the running claim of a voucher, if any.
 * @param {string} voucher
 * @returns {RunningClaim | undefined}
 */
export function runningClaim(voucher) {
  return running.get(voucher);
}

/**
 * @param {string} voucher
 * @returns {RunningClaim}
 */
export function claim(voucher) {
  const existing = running.get(voucher);
  if (existing) return existing;
  /** @type {RunningClaim} */
  const started = { outcome: Promise.resolve({}), isLost: false, watchers: new Set() };
  const onLost = () => {
    started.isLost = true;
    for (const watcher of started.watchers) watcher();
  };
  started.outcome = resolveClaim(voucher, onLost, userSession.signal).finally(() => {
    if (running.get(voucher) === started) running.delete(voucher);
  });
  running.set(voucher, started);
  return started;
}

/**
 * @param {string} voucher
 * @param {() => void} onLost called when no response arrives
 * @param {AbortSignal} signal aborts with the user's session
 * @returns {Promise<Outcome>}
 */
async function resolveClaim(voucher, onLost, signal) {
  let isFirstAttempt = true;
  for (const delayMs of [...RETRY_DELAYS_MS, 0]) {
    const outcome = await claimOnce(voucher, signal);
    // A 401 concerns the user who claimed; any other outcome must not reach another user.
    if (outcome?.refusal?.status !== 401) signal.throwIfAborted();
    // Bought by an earlier attempt whose response was lost.
    if (outcome) return outcome.order && !isFirstAttempt ? { ...outcome, isNew: true } : outcome;
    onLost();
    isFirstAttempt = false;
    await delay(delayMs);
  }
  for (;;) {
    await untilReachable(signal);
    try {
      const order = await findOrder(voucher, signal);
      return order ? { order, isNew: true } : { isNothing: true };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
  }
}

/**
 * Returns the user's order of this voucher among the newest orders: in progress, unpaid, paid or used.
 * @param {string} voucher
 * @param {AbortSignal} [signal]
 * @returns {Promise<string | undefined>}
 */
export async function findOrder(voucher, signal) {
  /** @type {import("../orders.js").Order[]} */
  const orders = (await get("/voucher-order/of/me", { query: { current: 1 }, signal })) ?? [];
  return orders.find((order) => String(order.voucherId) === voucher && order.status <= STATUS.used)?.id;
}

/**
 * @param {string} voucher
 * @param {AbortSignal} signal
 * @returns {Promise<Outcome | null>} `null`: no response
 */
async function claimOnce(voucher, signal) {
  signal.throwIfAborted();
  try {
    const { dataText } = await call("POST", `/voucher-order/seckill/${voucher}`, { timeoutMs: TIMEOUT_MS, headers: claimHeaders(voucher) });
    forgetPass(voucher);
    return { order: dataText, isNew: true };
  } catch (error) {
    if (error instanceof Unreachable) return null;
    if (!(error instanceof Refusal)) throw error;
    // Spent, expired, or taken from another mall's start.
    if (error.code === "PASS_REQUIRED") forgetPass(voucher);
    if (error.code === "CHALLENGE_AGAIN") refusePass(voucher);
    if (error.code === "ADMISSION_REQUIRED") forgetAdmission(voucher);
    if (error.code === "ALREADY_BOUGHT") return { order: error.answer.dataText, isNew: false };
    // A failing server may have accepted the claim.
    const order = error.status >= 500 ? await findOrder(voucher, signal).catch(() => undefined) : undefined;
    return order ? { order, isNew: true } : { refusal: error };
  }
}

/** @param {AbortSignal} signal */
function untilReachable(signal) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else if (isReachable()) resolve(undefined);
    onReachable(() => isReachable() && resolve(undefined), signal);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}
