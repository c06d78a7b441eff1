// The post of a review, at most once: in doubt until the mall has said what became of it.

import { Refusal, call, get } from "../../core/api.js";
import { isInDoubt } from "../../core/in-doubt.js";

/** Codes of refusals with the id of the order's review, which an earlier post or another window wrote. */
const EXISTS_CODES = ["ALREADY_REVIEWED", "REVIEW_DIFFERS"];
/** Delay before the first automatic repeat of a post in doubt; doubled up to the maximum. */
const REPEAT_AFTER_MS = 2_000;
const REPEAT_AFTER_MAX_MS = 30_000;

/** The order has a review with other contents. */
export class ReviewExists extends Error {
  /** @param {number} review its id */
  constructor(review) {
    super(`review ${review} exists`);
    this.review = review;
  }
}

/**
 * Sends a review once. Throws `ReviewExists` if the order has another review, or the same with other contents.
 * @param {object} body
 * @returns {Promise<void>}
 */
export async function postReview(body) {
  try {
    await call("POST", "/remark", { body });
  } catch (error) {
    if (error instanceof Refusal && EXISTS_CODES.includes(error.code)) throw new ReviewExists(error.answer.data);
    throw error;
  }
}

/**
 * Whether the review may be stored although the post failed. A refused repeat says so of the repeat alone where
 * the mall refuses before it looks for the review: without a valid session, or above a limit.
 * @param {unknown} error
 * @param {boolean} isRepeat whether an earlier post is in doubt
 */
export function isUndecided(error, isRepeat) {
  return isInDoubt(error) || (isRepeat && error instanceof Refusal && (error.isTrouble || error.status === 401));
}

/**
 * @param {number} repeats automatic repeats so far
 * @returns {number} milliseconds until the next one
 */
export function repeatDelay(repeats) {
  return Math.min(REPEAT_AFTER_MS * 2 ** repeats, REPEAT_AFTER_MAX_MS);
}

/** @typedef {{orderId: string, remarkId: number, deleted: boolean}} OrderReview an item of `GET /remark/of/orders` */

/**
 * Returns the reviews of the user's orders, of 100 at most. Orders without one are left out.
 * @param {string[]} orders
 * @param {AbortSignal} [signal]
 * @returns {Promise<OrderReview[]>}
 */
export function reviewsOfOrders(orders, signal) {
  return get("/remark/of/orders", { query: { ids: orders.join(",") }, signal });
}
