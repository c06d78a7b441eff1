// The client of the mall's API. All requests go through here, except uploads of pictures (`upload.js`).

import { language } from "./language.js";
import { saveLocal, loadLocal, onLocalChange } from "./local-storage.js";
import { delay } from "./server-time.js";

/**
 * A successful response of the API.
 * @typedef {object} ApiResponse
 * @property {any} data absent fields are left out; order ids are strings at any depth of an object
 * @property {string} [dataText] `data` without loss of precision, if `data` is an order number
 * @property {number} [total] of a list: number of items on all pages
 * @property {string} [field] of a refusal that may concern two fields: the field of the body concerned
 * @property {number} [passInMs] a guarded sale that is not open: time until passes are issued
 * @property {number} [retryAfterMs] value of `Retry-After`; 0 if missing
 * @property {number} sentAt time of the request, on the scale of `performance.now()`
 * @property {number} receivedAt time of the response, on the same scale
 */

/**
 * @typedef {object} RequestOptions
 * @property {Record<string, string | number | undefined>} [query] `undefined` values are left out
 * @property {object | FormData} [body]
 * @property {AbortSignal} [signal] aborts the request
 * @property {Record<string, string>} [headers] further headers
 * @property {number} [timeoutMs] milliseconds; 8,000 by default
 */

const TIMEOUT_MS = 8_000;
/** Delays before the retries of an idempotent request, in milliseconds. */
const RETRY_DELAYS_MS = [300, 1_200];

/** A business refusal or an error status of the mall, with code and message. */
export class Refusal extends Error {
  /**
   * @param {string} message in the reader's language
   * @param {string} code stable identifier of the refusal
   * @param {number} status
   * @param {ApiResponse} answer data sent with the refusal, for example the existing order
   */
  constructor(message, code, status, answer) {
    super(message);
    this.code = code;
    this.status = status;
    this.answer = answer;
  }

  /** Whether the mall's clock is unsure: nothing happened, and nothing will before somebody sets it. */
  get isOfClock() {
    return this.code === "CLOCK_UNSURE";
  }

  /** Whether the server failed, as opposed to refusing the request. */
  get isTrouble() {
    return (this.status >= 500 && !this.isOfClock) || this.status === 429;
  }
}

/** No response arrived. The request may have been processed all the same. */
export class Unreachable extends Error {}

/**
 * Header of the mall's own pages: they expect real statuses, render text as text and fetch pictures from the
 * mall.
 */
const CLIENT = { "x-mallbox-client": "web" };

const events = new EventTarget();
let token = loadLocal("token");
let reachable = true;

/** Base URL of the API, without a trailing slash. */
export const base = document.querySelector('meta[name="mallbox-api"]')?.getAttribute("content") ?? "/api";

/**
 * Sends a request once, without a retry.
 * @param {"GET" | "POST" | "PUT" | "DELETE"} method
 * @param {string} path
 * @param {RequestOptions} [options]
 * @returns {Promise<ApiResponse>}
 */
export async function call(method, path, options = {}) {
  const sentToken = token;
  const sentAt = performance.now();
  const response = await request(method, path, options);
  const receivedAt = performance.now();
  const retryAfterMs = 1_000 * (Number(response.headers.get("retry-after")) || 0);
  return parseResponse(response.status, await response.text().catch(() => ""), { sentToken, sentAt, receivedAt, retryAfterMs });
}

/**
 * Parses the envelope of a response. Throws `Refusal` or `Unreachable`.
 * @param {number} status
 * @param {string} body
 * @param {{sentToken: string | null, sentAt: number, receivedAt: number, retryAfterMs?: number}} times
 * `sentToken`: the token of the request
 * @returns {ApiResponse}
 */
export function parseResponse(status, body, { sentToken, ...times }) {
  let envelope;
  try {
    envelope = JSON.parse(body);
  } catch {
    throw new Unreachable(String(status));
  }
  setReachable(true);
  const { success, data, dataText, total, errorMsg, code, field, passInMs } = envelope;
  const answer = { data, dataText, total, field, passInMs, ...times };
  if (success) return answer;
  if (status === 401) dropToken(sentToken);
  throw new Refusal(errorMsg ?? String(status), code ?? "INTERNAL", status, answer);
}

/**
 * Logs out after a 401. Does nothing if another login replaced the rejected token meanwhile.
 * @param {string | null} rejected
 */
function dropToken(rejected) {
  if (rejected === token) setToken(null);
}

/**
 * Sends a GET request; retries while no response arrives or the status is 503.
 * @param {string} path
 * @param {RequestOptions} [options]
 * @returns {Promise<ApiResponse>}
 */
export async function read(path, options) {
  return callWithRetries("GET", path, options);
}

/**
 * Sends an idempotent request; retries while no response arrives or the status is 503.
 * @param {"GET" | "POST" | "PUT" | "DELETE"} method
 * @param {string} path
 * @param {RequestOptions} [options]
 * @returns {Promise<ApiResponse>}
 */
export async function callWithRetries(method, path, options = {}) {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await call(method, path, options);
    } catch (error) {
      const isRetryable = error instanceof Unreachable || (error instanceof Refusal && error.status === 503);
      if (!isRetryable || options.signal?.aborted) throw error;
    }
    await delay(delayMs);
  }
  return call(method, path, options);
}

/**
 * Returns the data of a GET request, with retries.
 * @param {string} path
 * @param {RequestOptions} [options]
 * @returns {Promise<any>}
 */
export async function get(path, options) {
  return (await read(path, options)).data;
}

/**
 * Opens a streaming response, for live metrics.
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {Promise<Response>}
 */
export async function stream(path, signal) {
  const sentToken = token;
  const response = await fetch(base + path, { headers: headers(), signal });
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  const answer = { data: undefined, sentAt: 0, receivedAt: 0 };
  if (response.status === 401) dropToken(sentToken);
  throw new Refusal(body.errorMsg ?? String(response.status), body.code ?? "INTERNAL", response.status, answer);
}

/**
 * Sends a request unchanged and returns the raw response, for trying out the API.
 * @param {string} method
 * @param {string} path
 * @param {{headers?: Record<string, string>, body?: string | FormData}} [options]
 * @returns {Promise<{status: number, text: string}>}
 */
export async function rawRequest(method, path, options = {}) {
  const headers = { ...CLIENT, ...options.headers };
  const response = await fetch(base + path, { method, ...options, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  return { status: response.status, text: await response.text() };
}

/**
 * Fetches a text file that the server delivers beside the API.
 * @param {string} path
 * @returns {Promise<string>}
 */
export async function fetchText(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Unreachable(String(response.status));
  return response.text();
}

/**
 * Returns the readiness of the server and its back end, from `/readyz` outside the API.
 * @returns {Promise<any>}
 */
export async function readiness() {
  return (await fetch("/readyz", { signal: AbortSignal.timeout(TIMEOUT_MS) })).json();
}

/** @param {string | null} value */
export function setToken(value) {
  if (value === token) return;
  token = value;
  saveLocal("token", value);
  events.dispatchEvent(new Event("token"));
}

// Login or logout in another window.
onLocalChange("token", (value) => {
  token = value;
  events.dispatchEvent(new Event("token"));
});

/** Returns the token of the current session, or null if nobody is logged in. */
export function currentToken() {
  return token;
}

/** Whether a token is present. The server may have ended the session meanwhile. */
export function hasToken() {
  return token !== null;
}

/**
 * Calls `listener` after every login and logout.
 * @param {() => void} listener
 * @param {AbortSignal} [signal]
 */
export function onToken(listener, signal) {
  events.addEventListener("token", listener, { signal });
}

/** Whether the last request got a response. */
export function isReachable() {
  return reachable;
}

/**
 * Calls `listener` when the connection is lost or restored.
 * @param {() => void} listener
 * @param {AbortSignal} [signal]
 */
export function onReachable(listener, signal) {
  events.addEventListener("reachable", listener, { signal });
}

/**
 * @param {string} method
 * @param {string} path
 * @param {RequestOptions} options
 */
async function request(method, path, { query, body, signal, headers: further, timeoutMs = TIMEOUT_MS }) {
  const parameters = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const queryString = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)])).toString();
  const isForm = body instanceof FormData;
  const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])];
  try {
    return await fetch(base + path + (queryString ? `?${queryString}` : ""), {
      method,
      headers: { ...headers(), ...(body && !isForm ? { "content-type": "application/json" } : {}), ...further },
      body: isForm ? body : body && JSON.stringify(body),
      signal: AbortSignal.any(signals),
    });
  } catch (error) {
    // An aborted request says nothing about the connection.
    if (signal?.aborted) throw error;
    throw reportUnreachable(String(error));
  }
}

/**
 * Marks the mall as unreachable and returns the error to throw.
 * @param {string} why
 */
export function reportUnreachable(why) {
  setReachable(false);
  return new Unreachable(why);
}

/**
 * Returns the headers that every request carries.
 * @returns {Record<string, string>}
 */
export function headers() {
  return { ...CLIENT, "accept-language": language(), ...(token ? { authorization: token } : {}) };
}

/** @param {boolean} isReachable */
function setReachable(isReachable) {
  if (isReachable === reachable) return;
  reachable = isReachable;
  events.dispatchEvent(new Event("reachable"));
  if (!isReachable) pollUntilReachable();
}

/** Polls `/healthz` until the server responds. */
async function pollUntilReachable() {
  while (!reachable) {
    await delay(1_500);
    if (await isHealthy()) setReachable(true);
  }
}

async function isHealthy() {
  try {
    const response = await fetch("/healthz", { signal: AbortSignal.timeout(TIMEOUT_MS), cache: "no-store" });
    // A body that nobody reads keeps the request, and its connection, in flight.
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}

// The browser notices network changes first, but a kiosk's server runs on the same machine: ask the server.
for (const change of ["offline", "online"]) addEventListener(change, async () => setReachable(await isHealthy()));
