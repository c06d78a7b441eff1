// What got no answer, and may have been done all the same.

import { Refusal, Unreachable } from "./api.js";
import { pause } from "./moments.js";

/** The mall ends every call within so long: what was not done by then is not done any more. */
const SETTLED_AFTER_MS = 2_000;

/**
 * Whether what failed so may have been done.
 * @param {unknown} error
 */
export function mayBeDone(error) {
  return error instanceof Unreachable || (error instanceof Refusal && error.status >= 500);
}

/** Once it is decided: to look before would miss what is being done. */
export async function settled() {
  await pause(SETTLED_AFTER_MS);
}
