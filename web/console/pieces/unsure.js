// That nobody knows whether it was done.

import { both } from "../../core/language.js";
import { reason } from "../../parts/toast.js";

/** It is not known whether it was done. To press again is safe, and says so. */
export class Unsure extends Error {
  /**
   * @param {unknown} cause
   * @param {string} again what comes of pressing again
   */
  constructor(cause, again) {
    super([reason(cause), again].join(both("。", ". ")), { cause });
  }
}
