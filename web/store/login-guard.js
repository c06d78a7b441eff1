// Guards for screens and actions that need a login. After the login the user returns to the screen.

import { Refusal, hasToken, onToken } from "../core/api.js";
import { address, go } from "../core/router.js";

/** Opens the login screen, which leads back to the current address. */
export function goToLogin({ replace = false } = {}) {
  if (!address().startsWith("/login")) go(`/login?then=${encodeURIComponent(address())}`, { replace });
}

/**
 * Whether somebody is logged in. If not, the login screen replaces the current one.
 * @returns {boolean}
 */
export function requireLogin() {
  if (!hasToken()) goToLogin({ replace: true });
  return hasToken();
}

/**
 * Like `requireLogin`, and also when the session ends while the screen is open.
 * @param {AbortSignal} signal the screen's signal
 * @returns {boolean}
 */
export function requireLoginThroughout(signal) {
  onToken(requireLogin, signal);
  return requireLogin();
}

/**
 * Opens the login screen if the error is a 401. Returns whether it is.
 * @param {unknown} error
 * @param {{replace?: boolean}} [options] `replace`: replaces the current history entry
 * @returns {boolean}
 */
export function redirectIfUnauthorized(error, options) {
  const isUnauthorized = error instanceof Refusal && error.status === 401;
  if (isUnauthorized) goToLogin(options);
  return isUnauthorized;
}
