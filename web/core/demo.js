// Whether the mall is a demo: login codes can be read in its inbox.

import { readiness } from "./api.js";

/** @type {Promise<boolean> | null} */
let response = null;

/** Returns whether the mall is a demo; asks the server once per page. An unreachable server counts as none. */
export function isDemo() {
  response ??= readiness().then(({ inbox }) => inbox === true, () => {
    response = null;
    return false;
  });
  return response;
}
