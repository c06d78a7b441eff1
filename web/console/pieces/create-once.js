// Creation at most once: after a lost response, existing objects are searched before another attempt.

import { isInDoubt } from "../../core/in-doubt.js";
import { t } from "../../core/language.js";
import { delay } from "../../core/server-time.js";
import { InDoubtError } from "./in-doubt-error.js";

/** Delays between the searches: the server may finish a request after the timeout. */
const SEARCH_DELAYS_MS = [1_000, 2_000];

/**
 * @template Body, Made
 * @param {object} options
 * @param {(body: Body) => Promise<Made[]>} options.those lists the objects to search
 * @param {(createdId: Made) => number} options.id
 * @param {(createdId: Made | Body) => unknown[]} options.marks properties that identify the object, in
 * request and response
 * @param {(body: Body) => Promise<number>} options.make creates the object and returns its id
 * @returns {(body: Body) => Promise<{id: number, wasMade: boolean}>} `wasMade`: an earlier attempt in doubt
 * created the object
 */
export function createOnce({ those: list, id, marks: identity, make: create }) {
  /**
   * @type {{name: string, before: Set<number>} | null} the attempt in doubt, with the ids that existed before
   */
  let inDoubt = null;
  const fingerprint = (/** @type {Made | Body} */ item) => JSON.stringify(identity(item));

  return async (body) => {
    const name = fingerprint(body);
    if (inDoubt?.name === name) {
      const found = await findCreated(body, inDoubt);
      if (found) {
        inDoubt = null;
        return { id: id(found), wasMade: true };
      }
    } else inDoubt = { name, before: new Set((await list(body)).map(id)) };
    try {
      const createdId = await create(body);
      inDoubt = null;
      return { id: createdId, wasMade: false };
    } catch (error) {
      if (isInDoubt(error)) {
        throw new InDoubtError(error, t("无法确认是否创建成功。可以再按一次：会先检查，不会重复创建。",
          "The result is unknown. Pressing again is safe: existing entries are checked first, so nothing is created twice."));
      }
      inDoubt = null;
      throw error;
    }
  };

  /**
   * @param {Body} body
   * @param {{name: string, before: Set<number>}} attempt
   */
  async function findCreated(body, { name, before }) {
    for (const delayMs of [0, ...SEARCH_DELAYS_MS]) {
      await delay(delayMs);
      const found = (await list(body)).find((item) => !before.has(id(item)) && fingerprint(item) === name);
      if (found) return found;
    }
    return undefined;
  }
}

/**
 * Normalizes a name for comparison: the server removes markup and may rewrite punctuation.
 * @param {string | undefined} name
 */
export function normalizedName(name = "") {
  return name.replace(/<[^>]*>|[^\p{L}\p{N}]/gu, "");
}

/** Returns the message for an object created by an earlier attempt. */
export function alreadyCreatedText() {
  return t("上一次提交已经创建成功，内容以上一次提交的为准", "Already created by the previous attempt, with the data sent then");
}
