// Uploads of pictures over `XMLHttpRequest`, since `fetch` does not report upload progress.

import { Refusal, parseResponse, base, headers, currentToken, reportUnreachable } from "./api.js";
import { delay } from "./server-time.js";

/** Longer than for other requests: uploads from phones are slow. */
const TIMEOUT_MS = 60_000;
/**
 * The mall re-encodes only a few pictures at a time. Milliseconds before each retry of a picture that did not
 * arrive or was rejected by load shedding, or longer if the mall asks for more; the last value repeats.
 */
const RETRY_DELAYS_MS = [1_000, 3_000, 5_000, 10_000, 15_000, 20_000];
/** Body too slow, rate limit or load shedding; 502 and 504 come from a proxy before the mall. */
const TRANSIENT_STATUSES = [408, 429, 502, 503, 504];
/** Stops retrying after five minutes; the picture then shows a button to try again. */
const RETRY_WITHIN_MS = 300_000;
/** Upper bound of the delay before a retry. */
const RETRY_AFTER_MAX_MS = 60_000;

/** An upload that may succeed if repeated. */
class Transient extends Error {
  /**
   * @param {Error} failure what to throw if no retry succeeds
   * @param {number} afterMs value of `Retry-After`; 0 if missing
   */
  constructor(failure, afterMs) {
    super(failure.message);
    this.failure = failure;
    this.afterMs = afterMs;
  }
}

/**
 * Uploads a picture. Retries while the picture does not arrive or is rejected by load shedding: the mall
 * sweeps duplicates without a note.
 * @param {Blob} picture a JPEG, PNG, WebP or GIF of up to 5 MiB
 * @param {{progress?: (part: number) => void, signal?: AbortSignal}} [options] `progress`: receives the
 * uploaded share, 0 to 1
 * @returns {Promise<string>} the path of the picture: `/imgs/blogs/…`
 */
export async function upload(picture, options = {}) {
  const startedAt = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await uploadOnce(picture, options);
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      const delayMs = RETRY_DELAYS_MS[Math.min(attempt, RETRY_DELAYS_MS.length - 1)];
      if (performance.now() + delayMs - startedAt > RETRY_WITHIN_MS) throw error.failure;
      await delay(Math.min(RETRY_AFTER_MAX_MS, Math.max(delayMs, error.afterMs)));
    }
    options.signal?.throwIfAborted();
  }
}

/**
 * @param {Blob} picture
 * @param {{progress?: (part: number) => void, signal?: AbortSignal}} options
 */
async function uploadOnce(picture, { progress, signal }) {
  const form = new FormData();
  form.append("file", picture, "picture");
  const request = new XMLHttpRequest();
  request.open("POST", `${base}/upload/blog`);
  request.timeout = TIMEOUT_MS;
  for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
  request.upload.addEventListener("progress", ({ loaded, total }) => progress?.(total > 0 ? loaded / total : 0));
  const finished = new Promise((done) => request.addEventListener("loadend", done));
  const abort = () => request.abort();
  signal?.addEventListener("abort", abort);
  const [sentToken, sentAt] = [currentToken(), performance.now()];
  request.send(form);
  await finished;
  signal?.removeEventListener("abort", abort);
  if (signal?.aborted) throw new DOMException("given up", "AbortError");
  if (request.status === 0) throw new Transient(reportUnreachable("upload"), 0);
  try {
    return `/imgs${parseResponse(request.status, request.responseText, { sentToken, sentAt, receivedAt: performance.now() }).data}`;
  } catch (error) {
    if (!(error instanceof Refusal) || !TRANSIENT_STATUSES.includes(error.status)) throw error;
    throw new Transient(error, 1_000 * (Number(request.getResponseHeader("retry-after")) || 0));
  }
}
