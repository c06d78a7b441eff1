// A heart that is full at once, and empty again if the mall did not take it.

import { hasToken } from "../../core/api.js";
import { isInDoubt, waitUntilDecided } from "../../core/doubt.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { icon } from "../../parts/icons.js";
import { showError } from "../../parts/toast.js";
import { toLogIn, wantsLogIn } from "../entry.js";

/** @typedef {{isLike: boolean, liked: number}} Likes */

/**
 * @param {object} options
 * @param {string} options.what is liked, for who does not see where the heart stands
 * @param {Likes} options.likes
 * @param {() => Promise<unknown>} options.toggle has the mall turn it about
 * @param {() => Promise<Likes | undefined>} options.look what the mall knows: where no answer came, it may have been done
 * @param {(isLike: boolean) => void} [options.changed]
 * @returns {{root: HTMLButtonElement, set: (likes: Likes) => void}}
 */
export function likeButton({ what, likes, toggle, look, changed }) {
  const heart = h("span", { class: "like-heart" });
  const count = h("span", { class: "number" });
  const root = h("button", { type: "button", class: "button bare like", "aria-label": t(`赞${what}`, `Like ${what}`), onclick: press }, heart, count);
  let isKnown = likes.isLike;
  let isAsking = false;
  show(likes);

  /** @param {Likes} fresh */
  function show(fresh) {
    likes = fresh;
    heart.replaceChildren(icon("heart", { full: fresh.isLike }));
    count.textContent = String(fresh.liked);
    root.setAttribute("aria-pressed", String(fresh.isLike));
    root.setAttribute("aria-label", t(`赞${what}，已有 ${fresh.liked} 个赞`, `Like ${what}; ${fresh.liked} likes`));
  }

  function press() {
    if (!hasToken()) {
      toLogIn();
      return;
    }
    turn();
    if (likes.isLike) heart.firstElementChild?.classList.add("beat");
    if (!isAsking) ask();
  }

  function turn() {
    show({ isLike: !likes.isLike, liked: Math.max(0, likes.liked + (likes.isLike ? -1 : 1)) });
    changed?.(likes.isLike);
  }

  /** Until the mall knows what the heart shows: it may be pressed again meanwhile. */
  async function ask() {
    isAsking = true;
    try {
      while (isKnown !== likes.isLike) {
        await toggle();
        isKnown = !isKnown;
      }
    } catch (error) {
      if (isKnown !== likes.isLike) turn();
      if (!wantsLogIn(error)) showError(error);
      if (isInDoubt(error)) await findOut();
    } finally {
      isAsking = false;
    }
    // It was pressed while that was found out.
    if (isKnown !== likes.isLike) ask();
  }

  async function findOut() {
    const shown = likes;
    await waitUntilDecided();
    const fresh = await look().catch(() => undefined);
    if (!fresh) return;
    if (likes === shown) set(fresh);
    else isKnown = fresh.isLike;
  }

  /** @param {Likes} fresh */
  function set(fresh) {
    isKnown = fresh.isLike;
    show({ isLike: fresh.isLike, liked: fresh.liked });
    changed?.(fresh.isLike);
  }

  return { root, set: (fresh) => !isAsking && set(fresh) };
}
