// Live metrics: a single event stream for the whole console, with a history for the charts.

import { Refusal, hasToken, setToken } from "../core/api.js";
import { events } from "../core/event-stream.js";
import { delay } from "../core/server-time.js";

/**
 * A sample of the server's metrics. Counts are since the start of the server.
 * @typedef {object} Metrics
 * @property {string} time local time of the server
 * @property {Clock} clock
 * @property {boolean} ready
 * @property {string[]} troubles
 * @property {Dependency[]} parts
 * @property {Recovery} [recovery] absent if the last run was stopped in order
 * @property {string} backend
 * @property {string} durability
 * @property {string} [payment] payment method of new orders
 * @property {number} connections
 * @property {number} [memoryBytes]
 * @property {number} requests
 * @property {number} accepted
 * @property {Record<string, number>} refused
 * @property {number} persisted
 * @property {number} backlog
 * @property {Interval} [lately] changes since the previous sample
 * @property {{uv: number, pv: number}} [visits] today's unique visitors and views
 * @property {SaleMetrics[]} [sales]
 */
/**
 * @typedef {{state: "sure" | "unsure", doubt?: string, time: string, timeMs: number, mallTime: string}} Clock the clock
 * of the machine: `time` is what it shows, `mallTime` what the mall goes by
 * @typedef {{lastTime?: string, tookMs: number, commits: number, claims: number, databaseChecked: boolean}} Recovery
 * what the start recovered
 */
/**
 * @typedef {{name: string, ok: boolean, troubles?: string[], durability?: string}} Dependency a dependency of
 * the server
 */
/**
 * @typedef {object} Interval
 * @property {number} millis
 * @property {number} requests
 * @property {number} accepted
 * @property {Record<string, number>} refused
 * @property {number} persisted
 * @property {{p50: number, p90: number, p99: number}} [claimMillis]
 */
/**
 * @typedef {object} SaleMetrics
 * @property {number} voucherId
 * @property {string} title
 * @property {number} stock units left; −1: unlimited
 * @property {number} units total units; −1: unlimited
 * @property {number} taken
 * @property {string} state
 */
/** @typedef {"connecting" | "on" | "lost"} StreamState */

/** Five minutes. */
const HISTORY_MS = 300_000;
/** Samples arrive every second; a stream silent for longer is broken. */
const SILENCE_TIMEOUT_MS = 6_000;
const RECONNECT_AFTER_MS = 1_500;
/** Minimum interval of events for revoked access, in case access is granted and revoked repeatedly. */
const REVOKED_EVENT_INTERVAL_MS = 30_000;

/** @type {Metrics[]} oldest first */
const samples = [];
/** @type {number[]} receive times of the samples */
const receivedTimes = [];
/** @type {StreamState} */
let streamState = "connecting";
/** @type {AbortController | null} */
let stream = null;
let revokedAt = -Infinity;
const listeners = new EventTarget();

/** Returns the recent samples, oldest first. */
export function metricsHistory() {
  return samples;
}

/** @returns {Metrics | undefined} */
export function latestMetrics() {
  return samples[samples.length - 1];
}

/** Returns the state of the stream. */
export function metricsStreamState() {
  return streamState;
}

/**
 * Calls `listener` for every sample, and at once if samples exist.
 * @param {() => void} listener
 * @param {AbortSignal} [signal]
 */
export function onMetrics(listener, signal) {
  listeners.addEventListener("figures", listener, { signal });
  if (samples.length > 0) listener();
}

/**
 * Calls `listener` when the user is no longer an operator.
 * @param {() => void} listener
 */
export function onAccessRevoked(listener) {
  listeners.addEventListener("shut out", listener);
}

/**
 * Keeps the stream open until {@link disconnectMetrics}, with reconnects. Pauses while the page is hidden:
 * browsers limit connections per host to six.
 */
export async function connectMetrics() {
  if (stream) return;
  const connection = new AbortController();
  stream = connection;
  while (!connection.signal.aborted) {
    await untilVisible();
    const hidden = signalUntilHidden();
    await readStream(AbortSignal.any([connection.signal, hidden])).catch((error) => {
      // Other errors, such as a proxy's error page, may be temporary.
      if (error instanceof Refusal && error.status === 403 && !connection.signal.aborted) revokeAccess();
    });
    if (connection.signal.aborted) return;
    if (hidden.aborted) continue;
    setStreamState("lost");
    await delay(RECONNECT_AFTER_MS);
  }
}

/** Waits until the page is visible. */
async function untilVisible() {
  while (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
}

/** Returns a signal that aborts when the page is hidden. */
function signalUntilHidden() {
  const hidden = new AbortController();
  const { signal } = hidden;
  document.addEventListener("visibilitychange", () => hidden.abort(), { signal });
  // The page may survive in the back/forward cache.
  addEventListener("pagehide", () => hidden.abort(), { signal });
  return signal;
}

export function disconnectMetrics() {
  stream?.abort();
  stream = null;
  samples.length = receivedTimes.length = 0;
  setStreamState("connecting");
}

/** @param {AbortSignal} signal */
async function readStream(signal) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT_MS);
  try {
    for await (const { name, data } of events("/ops/live", AbortSignal.any([signal, silence.signal]))) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT_MS);
      if (name === "end") return onEndEvent(data.code);
      samples.push(data);
      receivedTimes.push(performance.now());
      while (receivedTimes[0] < performance.now() - HISTORY_MS) {
        samples.shift();
        receivedTimes.shift();
      }
      setStreamState("on");
    }
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Handles the final event of the server.
 * @param {string} code
 */
function onEndEvent(code) {
  if (code === "NOT_LOGGED_IN" && hasToken()) setToken(null);
  if (code === "FORBIDDEN") revokeAccess();
}

/** Reports that the user is no longer an operator. */
function revokeAccess() {
  if (performance.now() < revokedAt + REVOKED_EVENT_INTERVAL_MS) return;
  revokedAt = performance.now();
  disconnectMetrics();
  listeners.dispatchEvent(new Event("shut out"));
}

/** @param {StreamState} state */
function setStreamState(state) {
  streamState = state;
  listeners.dispatchEvent(new Event("figures"));
}
