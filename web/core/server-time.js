// Server time. A client's clock may be wrong by hours: durations reported by the server are added to the
// monotonic time of the response.

/** @typedef {number} Moment a time on the scale of `performance.now()` */

/** Precision of a moment derived from a response; too short to notice. */
const TOLERANCE_MS = 1_500;

/**
 * Returns the moment `ms` after the response was created, estimated as half-way between request and response.
 * @param {number} ms
 * @param {{sentAt: number, receivedAt: number}} times
 * @returns {Moment}
 */
export function momentAfter(ms, times) {
  return ms + (times.sentAt + times.receivedAt) / 2;
}

/**
 * Resolves after `ms` milliseconds.
 * @param {number} ms
 * @returns {Promise<void>}
 */
export function delay(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

/**
 * Returns the milliseconds until `moment`; negative if past.
 * @param {Moment} moment
 */
export function msUntil(moment) {
  return moment - performance.now();
}

/**
 * Whether two moments from different responses are equal within the tolerance. The monotonic clock may stop
 * while a phone sleeps.
 * @param {Moment | undefined} first
 * @param {Moment | undefined} second
 */
export function isSameMoment(first = 0, second = 0) {
  return Math.abs(first - second) < TOLERANCE_MS;
}

/**
 * Formats a duration as `1:02:03` or `02:03`. Days are formatted by the caller.
 * @param {number} ms
 */
export function formatClock(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}
