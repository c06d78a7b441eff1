// Making something new at most once: after an answer that was lost, it is looked for before it is asked for again.

import { isInDoubt } from "../../core/doubt.js";
import { t } from "../../core/language.js";
import { delay } from "../../core/moments.js";
import { Unsure } from "./unsure.js";

/** Work may go on for a while after the mall has given up waiting for it: so long it is looked for, and so often. */
const LOOK_AGAIN_MS = [1_000, 2_000];

/**
 * @template Body, Made
 * @param {object} options
 * @param {(body: Body) => Promise<Made[]>} options.those what there is that it could be
 * @param {(made: Made) => number} options.id
 * @param {(made: Made | Body) => unknown[]} options.marks what both it and what was asked for have, and tells it from others
 * @param {(body: Body) => Promise<number>} options.make answers its id
 * @returns {(body: Body) => Promise<{id: number, wasMade: boolean}>} `wasMade`: by the time before, as it was asked for then
 */
export function madeOnce({ those, id, marks, make }) {
  /** @type {{name: string, before: Set<number>} | null} what was asked for and got no answer, and what there was before */
  let open = null;
  const nameOf = (/** @type {Made | Body} */ one) => JSON.stringify(marks(one));

  return async (body) => {
    const name = nameOf(body);
    if (open?.name === name) {
      const found = await lookedFor(body, open);
      if (found) {
        open = null;
        return { id: id(found), wasMade: true };
      }
    } else open = { name, before: new Set((await those(body)).map(id)) };
    try {
      const made = await make(body);
      open = null;
      return { id: made, wasMade: false };
    } catch (error) {
      if (isInDoubt(error)) {
        throw new Unsure(error, t("不确定有没有创建成功。再按一次没关系：会先查有没有，不会重复创建。",
          "It may have been created all the same. Pressing again is safe: it is looked for first, and never made twice."));
      }
      open = null;
      throw error;
    }
  };

  /**
   * @param {Body} body
   * @param {{name: string, before: Set<number>}} asked
   */
  async function lookedFor(body, { name, before }) {
    for (const wait of [0, ...LOOK_AGAIN_MS]) {
      await delay(wait);
      const found = (await those(body)).find((one) => !before.has(id(one)) && nameOf(one) === name);
      if (found) return found;
    }
    return undefined;
  }
}

/**
 * A name by which it is known again: the mall takes markup out of texts, and writes some signs otherwise.
 * @param {string | undefined} name
 */
export function bareName(name = "") {
  return name.replace(/<[^>]*>|[^\p{L}\p{N}]/gu, "");
}

/** That what was asked for again had been made before. */
export function wasMadeText() {
  return t("上一次其实已经创建好了，内容以上一次提交的为准", "It had been created the time before, as it was sent then");
}
