// A claim of a flash sale, repeated until the outcome is known. Claims are idempotent: each names the unit by the
// number of those that the user holds, and a repeated claim returns the existing order.

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
/** Orders per page of the mall, and pages looked through: a user holds at most 20 units. */
const [PAGE, PAGES_MAX] = [10, 3];
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
 * @param {number} holding units that the user holds: the claim is for the next
 * @returns {RunningClaim}
 */
export function claim(voucher, holding) {
  const existing = running.get(voucher);
  if (existing) return existing;
  /** @type {RunningClaim} */
  const started = { outcome: Promise.resolve({}), isLost: false, watchers: new Set() };
  const onLost = () => {
    started.isLost = true;
    for (const watcher of started.watchers) watcher();
  };
  started.outcome = resolveClaim({ voucher, holding }, onLost, userSession.signal).finally(() => {
    if (running.get(voucher) === started) running.delete(voucher);
  });
  running.set(voucher, started);
  return started;
}

/** @typedef {{voucher: string, holding: number}} Unit */

/**
 * @param {Unit} unit
 * @param {() => void} onLost called when no response arrives
 * @param {AbortSignal} signal aborts with the user's session
 * @returns {Promise<Outcome>}
 */
async function resolveClaim(unit, onLost, signal) {
  let isFirstAttempt = true;
  for (const delayMs of [...RETRY_DELAYS_MS, 0]) {
    const outcome = await claimOnce(unit, signal);
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
      const order = await findOrder(unit, signal);
      return order ? { order, isNew: true } : { isNothing: true };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
  }
}

/**
 * Returns the user's orders of this voucher among the newest orders, the newest first: in progress, unpaid, paid or
 * used.
 * @param {string} voucher
 * @param {AbortSignal} [signal]
 * @returns {Promise<string[]>}
 */
export async function ownOrders(voucher, signal) {
  const found = [];
  for (let current = 1; current <= PAGES_MAX; current++) {
    /** @type {import("../orders.js").Order[]} */
    const orders = (await get("/voucher-order/of/me", { query: { current }, signal })) ?? [];
    const own = orders.filter((order) => String(order.voucherId) === voucher && order.status <= STATUS.used);
    found.push(...own.map((order) => order.id));
    if (own.length < PAGE) break;
  }
  return found;
}

/**
 * @param {Unit} unit
 * @param {AbortSignal} signal
 */
async function findOrder({ voucher, holding }, signal) {
  const orders = await ownOrders(voucher, signal);
  return orders.length > holding ? orders[0] : undefined;
}

/**
 * @param {Unit} unit
 * @param {AbortSignal} signal
 * @returns {Promise<Outcome | null>} `null`: no response
 */
async function claimOnce(unit, signal) {
  signal.throwIfAborted();
  const { voucher, holding } = unit;
  try {
    const query = holding > 0 ? { holding } : undefined;
    const { dataText } = await call("POST", `/voucher-order/seckill/${voucher}`, { query, timeoutMs: TIMEOUT_MS, headers: claimHeaders(voucher) });
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
    const order = error.status >= 500 && !error.isOfClock ? await findOrder(unit, signal).catch(() => undefined) : undefined;
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
