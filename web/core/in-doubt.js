// Requests in doubt: no response arrived, but the server may have processed them.

import { Refusal, Unreachable } from "./api.js";
import { delay } from "./server-time.js";

/** The server aborts every call after this time; the outcome is final by then. */
const DECIDED_AFTER_MS = 2_000;

/**
 * Whether the failed request may have been processed.
 * @param {unknown} error
 */
export function isInDoubt(error) {
  return error instanceof Unreachable || (error instanceof Refusal && error.status >= 500 && !error.isOfClock);
}

/** Waits until the outcome is final: an earlier check could miss a request in progress. */
export async function waitUntilDecided() {
  await delay(DECIDED_AFTER_MS);
}
