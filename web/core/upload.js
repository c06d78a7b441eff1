// Pictures on their way to the mall: only an `XMLHttpRequest` tells how far a body has come.

import { Refusal, answered, base, headers, tokenNow, unanswered } from "./api.js";
import { pause } from "./moments.js";

/** Longer than anything else may take: a phone sends a picture slowly. */
const PATIENCE_MS = 60_000;
/** The mall re-encodes only a few pictures at a time. Milliseconds before each retry of a rejected picture, or longer
 * if the mall asks for more; the last value repeats. */
const RETRY_DELAYS_MS = [1_000, 3_000, 5_000, 10_000, 15_000, 20_000];
/** Stops retrying after five minutes; the picture then shows a button to try again. */
const RETRY_WITHIN_MS = 300_000;
/** As long as somebody waits for the next try. */
const RETRY_AFTER_MAX_MS = 60_000;

/** The mall has no room for the picture now. */
class NotNow extends Error {
  /**
   * @param {Refusal} refusal
   * @param {number} afterMs as `Retry-After` says; 0: it does not
   */
  constructor(refusal, afterMs) {
    super(refusal.message);
    this.refusal = refusal;
    this.afterMs = afterMs;
  }
}

/**
 * Uploads a picture. Retries while the mall rejects the picture by load shedding: a duplicate that no note shows is swept.
 * @param {Blob} picture a JPEG, PNG, WebP or GIF of up to 5 MiB
 * @param {{progress?: (part: number) => void, signal?: AbortSignal}} [how] `progress`: told from 0 to 1
 * @returns {Promise<string>} where it is: `/imgs/blogs/…`
 */
export async function upload(picture, how = {}) {
  const began = performance.now();
  for (let tries = 0; ; tries += 1) {
    try {
      return await once(picture, how);
    } catch (error) {
      if (!(error instanceof NotNow)) throw error;
      const delay = RETRY_DELAYS_MS[Math.min(tries, RETRY_DELAYS_MS.length - 1)];
      if (performance.now() + delay - began > RETRY_WITHIN_MS) throw error.refusal;
      await pause(Math.min(RETRY_AFTER_MAX_MS, Math.max(delay, error.afterMs)));
    }
    how.signal?.throwIfAborted();
  }
}

/**
 * @param {Blob} picture
 * @param {{progress?: (part: number) => void, signal?: AbortSignal}} how
 */
async function once(picture, { progress, signal }) {
  const form = new FormData();
  form.append("file", picture, "picture");
  const request = new XMLHttpRequest();
  request.open("POST", `${base}/upload/blog`);
  request.timeout = PATIENCE_MS;
  for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
  request.upload.addEventListener("progress", ({ loaded, total }) => progress?.(total > 0 ? loaded / total : 0));
  const over = new Promise((done) => request.addEventListener("loadend", done));
  const giveUp = () => request.abort();
  signal?.addEventListener("abort", giveUp);
  const [by, sent] = [tokenNow(), performance.now()];
  request.send(form);
  await over;
  signal?.removeEventListener("abort", giveUp);
  if (signal?.aborted) throw new DOMException("given up", "AbortError");
  if (request.status === 0) throw unanswered("upload");
  try {
    return `/imgs${answered(request.status, request.responseText, { by, sent, came: performance.now() }).data}`;
  } catch (error) {
    if (!(error instanceof Refusal) || ![429, 503].includes(error.status)) throw error;
    throw new NotNow(error, 1_000 * (Number(request.getResponseHeader("retry-after")) || 0));
  }
}
