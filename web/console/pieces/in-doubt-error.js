// An error for requests in doubt.

import { t } from "../../core/language.js";
import { errorMessage } from "../../parts/toast.js";

/** A request in doubt, with advice on repeating the action. */
export class InDoubtError extends Error {
  /**
   * @param {unknown} cause
   * @param {string} retryText consequence of repeating the action
   */
  constructor(cause, retryText) {
    super([errorMessage(cause), retryText].join(t("。", ". ")), { cause });
  }
}
