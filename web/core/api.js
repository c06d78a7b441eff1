// The mall's API. Nothing else talks to it, but for pictures, which `upload.js` sends.

import { language } from "./language.js";
import { keep, kept, onKeptElsewhere } from "./kept.js";
import { pause } from "./moments.js";

/**
 * What the mall answered.
 * @typedef {object} Answer
 * @property {any} data absent fields are left out; ids of orders are text wherever they stand in an object
 * @property {string} [dataText] `data` to the last digit, where it is the number of an order
 * @property {number} [total] of a list: how many there are on all pages
 * @property {number} sent when it was asked, as `performance.now()` counts
 * @property {number} came when it answered
 */

/**
 * @typedef {object} Asking
 * @property {Record<string, string | number | undefined>} [query] what is `undefined` is left out
 * @property {object | FormData} [body]
 * @property {AbortSignal} [signal] gives up
 * @property {number} [patience] milliseconds; 8,000 unless told
 */

const PATIENCE_MS = 8_000;
/** What is read, or changes nothing if repeated, may be asked for again: after so many milliseconds. */
const AGAIN_MS = [300, 1_200];

/** The mall said no, and why. */
export class Refusal extends Error {
  /**
   * @param {string} message in the reader's language
   * @param {string} code never changes
   * @param {number} status
   * @param {Answer} answer what came with it: an order that one has already, for example
   */
  constructor(message, code, status, answer) {
    super(message);
    this.code = code;
    this.status = status;
    this.answer = answer;
  }

  /** Whether the mall is in trouble rather than the request. */
  get isTrouble() {
    return this.status >= 500 || this.status === 429;
  }
}

/** No answer came. What was asked may have been done all the same. */
export class Unreachable extends Error {}

/** By this the mall knows its own pages: they live on statuses, show text as text, and ask the mall for every picture. */
const CLIENT = { "x-mallbox-client": "web" };

const events = new EventTarget();
let token = kept("token");
let reachable = true;

/** Where the API is, without a slash at its end. */
export const base = document.querySelector('meta[name="mallbox-api"]')?.getAttribute("content") ?? "/api";

/**
 * Asks once.
 * @param {"GET" | "POST" | "PUT" | "DELETE"} method
 * @param {string} path
 * @param {Asking} [asking]
 * @returns {Promise<Answer>}
 */
export async function call(method, path, asking = {}) {
  const by = token;
  const sent = performance.now();
  const response = await request(method, path, asking);
  const came = performance.now();
  return answered(response.status, await response.text().catch(() => ""), { by, sent, came });
}

/**
 * What a response says.
 * @param {number} status
 * @param {string} body
 * @param {{by: string | null, sent: number, came: number}} asked `by`: the token with which it was
 * @returns {Answer}
 */
export function answered(status, body, { by, ...times }) {
  let said;
  try {
    said = JSON.parse(body);
  } catch {
    throw new Unreachable(String(status));
  }
  heard(true);
  const { success, data, dataText, total, errorMsg, code } = said;
  const answer = { data, dataText, total, ...times };
  if (success) return answer;
  if (status === 401) outdated(by);
  throw new Refusal(errorMsg ?? String(status), code ?? "INTERNAL", status, answer);
}

/**
 * The mall does not know this token any more. Somebody may have logged in with another one meanwhile.
 * @param {string | null} known
 */
function outdated(known) {
  if (known === token) setToken(null);
}

/**
 * Reads; tries again if no answer comes.
 * @param {string} path
 * @param {Asking} [asking]
 * @returns {Promise<Answer>}
 */
export async function read(path, asking) {
  return persist("GET", path, asking);
}

/**
 * Asks; tries again if no answer comes or the mall is too busy. For reads, and for changes that a repeat leaves as they are.
 * @param {"GET" | "POST" | "PUT" | "DELETE"} method
 * @param {string} path
 * @param {Asking} [asking]
 * @returns {Promise<Answer>}
 */
export async function persist(method, path, asking = {}) {
  for (const wait of AGAIN_MS) {
    try {
      return await call(method, path, asking);
    } catch (error) {
      const isWorthIt = error instanceof Unreachable || (error instanceof Refusal && error.status === 503);
      if (!isWorthIt || asking.signal?.aborted) throw error;
    }
    await pause(wait);
  }
  return call(method, path, asking);
}

/**
 * The data of what is read.
 * @param {string} path
 * @param {Asking} [asking]
 * @returns {Promise<any>}
 */
export async function get(path, asking) {
  return (await read(path, asking)).data;
}

/**
 * A response whose body goes on: live figures.
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {Promise<Response>}
 */
export async function stream(path, signal) {
  const by = token;
  const response = await fetch(base + path, { headers: headers(), signal });
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  const answer = { data: undefined, sent: 0, came: 0 };
  if (response.status === 401) outdated(by);
  throw new Refusal(said.errorMsg ?? String(response.status), said.code ?? "INTERNAL", response.status, answer);
}

/**
 * Asks for exactly this, and answers what came, unread: for whoever tries the API out.
 * @param {string} method
 * @param {string} path
 * @param {{headers?: Record<string, string>, body?: string | FormData}} [asking]
 * @returns {Promise<{status: number, text: string}>}
 */
export async function raw(method, path, asking = {}) {
  const headers = { ...CLIENT, ...asking.headers };
  const response = await fetch(base + path, { method, ...asking, headers, signal: AbortSignal.timeout(PATIENCE_MS) });
  return { status: response.status, text: await response.text() };
}

/**
 * A file that the mall serves beside the API.
 * @param {string} path as seen from the page
 * @returns {Promise<string>}
 */
export async function file(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Unreachable(String(response.status));
  return response.text();
}

/**
 * How the mall is, and what it is on; not below the API.
 * @returns {Promise<any>}
 */
export async function readiness() {
  return (await fetch("/readyz", { signal: AbortSignal.timeout(PATIENCE_MS) })).json();
}

/** @param {string | null} fresh */
export function setToken(fresh) {
  if (fresh === token) return;
  token = fresh;
  keep("token", fresh);
  events.dispatchEvent(new Event("token"));
}

// Somebody logged in or out in another window.
onKeptElsewhere("token", (fresh) => {
  token = fresh;
  events.dispatchEvent(new Event("token"));
});

/** The token with which one asks; nothing if nobody is logged in. */
export function tokenNow() {
  return token;
}

/** Whether somebody is logged in, as far as is known here. */
export function hasToken() {
  return token !== null;
}

/**
 * When somebody logs in or out.
 * @param {() => void} what
 * @param {AbortSignal} [signal]
 */
export function onToken(what, signal) {
  events.addEventListener("token", what, { signal });
}

/** Whether the last request got an answer. */
export function isReachable() {
  return reachable;
}

/**
 * When the mall stops answering, and when it answers again.
 * @param {() => void} what
 * @param {AbortSignal} [signal]
 */
export function onReachable(what, signal) {
  events.addEventListener("reachable", what, { signal });
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Asking} asking
 */
async function request(method, path, { query, body, signal, patience = PATIENCE_MS }) {
  const wanted = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(wanted.map(([name, value]) => [name, String(value)])).toString();
  const isForm = body instanceof FormData;
  const signals = [AbortSignal.timeout(patience), ...(signal ? [signal] : [])];
  try {
    return await fetch(base + path + (text ? `?${text}` : ""), {
      method,
      headers: { ...headers(), ...(body && !isForm ? { "content-type": "application/json" } : {}) },
      body: isForm ? body : body && JSON.stringify(body),
      signal: AbortSignal.any(signals),
    });
  } catch (error) {
    // Nobody waits for it any more: that says nothing about the mall.
    if (signal?.aborted) throw error;
    throw unanswered(String(error));
  }
}

/**
 * That no answer came; everybody is told.
 * @param {string} why
 */
export function unanswered(why) {
  heard(false);
  return new Unreachable(why);
}

/**
 * What every request says of who asks.
 * @returns {Record<string, string>}
 */
export function headers() {
  return { ...CLIENT, "accept-language": language(), ...(token ? { authorization: token } : {}) };
}

/** @param {boolean} answered */
function heard(answered) {
  if (answered === reachable) return;
  reachable = answered;
  events.dispatchEvent(new Event("reachable"));
  if (!answered) knock();
}

/** Asks until somebody answers. */
async function knock() {
  while (!reachable) {
    await pause(1_500);
    if (await isThere()) heard(true);
  }
}

function isThere() {
  return fetch("/healthz", { signal: AbortSignal.timeout(PATIENCE_MS), cache: "no-store" }).then(
    (response) => response.ok,
    () => false,
  );
}

// The browser notices first that a network went or came. Whether the mall did, the mall says: a kiosk's is on the same machine.
for (const change of ["offline", "online"]) addEventListener(change, async () => heard(await isThere()));
