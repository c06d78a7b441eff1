// The door. What needs to know who one is sends to the log-in, and that leads back.

import { Refusal, hasToken, onToken } from "../core/api.js";
import { address, go } from "../core/router.js";

/** To the log-in, and then back to what is shown now. */
export function toLogIn({ replace = false } = {}) {
  if (!address().startsWith("/login")) go(`/login?then=${encodeURIComponent(address())}`, { replace });
}

/**
 * For a screen that is about oneself: whether somebody is logged in. If not, the log-in takes its place.
 * @returns {boolean}
 */
export function isIn() {
  if (!hasToken()) toLogIn({ replace: true });
  return hasToken();
}

/**
 * The same, and when whoever it is logs out or is logged out while the screen is shown.
 * @param {AbortSignal} signal of the screen
 * @returns {boolean}
 */
export function staysIn(signal) {
  onToken(isIn, signal);
  return isIn();
}

/**
 * Whether the mall does not know (any more) who one is; the log-in is shown then.
 * @param {unknown} error
 * @param {{replace?: boolean}} [options] `replace`: what is shown now cannot be gone back to
 * @returns {boolean}
 */
export function wantsLogIn(error, options) {
  const wants = error instanceof Refusal && error.status === 401;
  if (wants) toLogIn(options);
  return wants;
}
