// The mall's time. A client's clock may be wrong by hours: what the mall says lies so many milliseconds ahead is counted from
// when it said so, on a clock that nobody can turn.

/** @typedef {number} Moment on the scale of `performance.now()` */

/** As exactly as an answer tells it, and not seen by anybody. */
const SAME_MS = 1_500;

/**
 * The moment that lies `ms` after the answer was made. It was made about half-way between asking and hearing.
 * @param {number} ms
 * @param {{sent: number, came: number}} answer
 * @returns {Moment}
 */
export function momentIn(ms, answer) {
  return ms + (answer.sent + answer.came) / 2;
}

/**
 * Waits so many milliseconds.
 * @param {number} ms
 * @returns {Promise<void>}
 */
export function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

/**
 * Milliseconds until then; negative once it is over.
 * @param {Moment} moment
 */
export function until(moment) {
  return moment - performance.now();
}

/**
 * Whether two moments, each as an answer told it, are the same: the clock they are counted on stands still while a phone sleeps.
 * @param {Moment | undefined} one
 * @param {Moment | undefined} other
 */
export function isSameMoment(one = 0, other = 0) {
  return Math.abs(one - other) < SAME_MS;
}

/**
 * A span as a clock shows it: `1:02:03`, `02:03`. Days are said by the reader's own words elsewhere.
 * @param {number} ms
 */
export function clockText(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}
