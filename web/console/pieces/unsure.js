// That nobody knows whether it was done.

import { t } from "../../core/language.js";
import { errorMessage } from "../../parts/toast.js";

/** It is not known whether it was done. To press again is safe, and says so. */
export class Unsure extends Error {
  /**
   * @param {unknown} cause
   * @param {string} again what comes of pressing again
   */
  constructor(cause, again) {
    super([errorMessage(cause), again].join(t("。", ". ")), { cause });
  }
}
