// A button for likes and votes with an optimistic update, reverted on failure.

import { hasToken } from "../../core/api.js";
import { isInDoubt, waitUntilDecided } from "../../core/in-doubt.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { icon } from "../../parts/icons.js";
import { showError } from "../../parts/toast.js";
import { goToLogin, redirectIfUnauthorized } from "../login-guard.js";

/** @typedef {{isLike: boolean, liked: number}} Likes */

/**
 * @param {object} options
 * @param {string} options.what name of the liked object, for screen readers
 * @param {Likes} options.likes
 * @param {(isLike: boolean) => Promise<unknown>} options.save sets the stored state; idempotent. Returns the number
 * of votes, if the server reports it
 * @param {() => Promise<Likes | undefined>} options.look reads the stored state, for requests in doubt
 * @param {(isLike: boolean, liked: number) => void} [options.changed]
 * @param {boolean} [options.isVote] a vote for a helpful review instead of a like: the number shown is always one
 * that the server reported, because an own vote may be older than the reader's mark, and others vote meanwhile
 * @returns {{root: HTMLButtonElement, set: (likes: Likes) => void}}
 */
export function likeButton({ what: target, likes, save, look: readLikes, changed: onChange, isVote = false }) {
  const heart = h("span", { class: "like-heart" });
  const count = h("span", { class: "number" });
  const root = h("button", { type: "button", class: "button bare like", onclick: onPress }, heart, isVote && h("span", null, t("有用 ", "Helpful ")), count);
  let storedState = likes.isLike;
  let isPending = false;
  show(likes);

  /** @param {Likes} fresh */
  function show(fresh) {
    likes = fresh;
    heart.replaceChildren(icon(isVote ? "thumb" : "heart", { full: fresh.isLike }));
    count.textContent = String(fresh.liked);
    root.setAttribute("aria-pressed", String(fresh.isLike));
    root.setAttribute("aria-label", isVote
      ? t(`有用 ${fresh.liked}：${target}`, `Helpful ${fresh.liked}: ${target}`)
      : t(`赞${target}，已有 ${fresh.liked} 个赞`, `Like ${target}; ${fresh.liked} likes`));
  }

  function onPress() {
    if (!hasToken()) {
      goToLogin();
      return;
    }
    toggleShown();
    if (likes.isLike) heart.firstElementChild?.classList.add("beat");
    if (!isPending) syncLikes();
  }

  function toggleShown() {
    const step = isVote ? 0 : likes.isLike ? -1 : 1;
    change({ isLike: !likes.isLike, liked: Math.max(0, likes.liked + step) });
  }

  /** @param {Likes} fresh */
  function change(fresh) {
    show(fresh);
    onChange?.(fresh.isLike, fresh.liked);
  }

  /** Saves until the stored state equals the shown one: the user may press again meanwhile. */
  async function syncLikes() {
    isPending = true;
    try {
      while (storedState !== likes.isLike) {
        const { isLike } = likes;
        const liked = await save(isLike);
        storedState = isLike;
        if (typeof liked === "number") change({ isLike: likes.isLike, liked });
      }
    } catch (error) {
      if (storedState !== likes.isLike) toggleShown();
      const isLoggedOut = redirectIfUnauthorized(error);
      if (!isLoggedOut) showError(error);
      if (isInDoubt(error)) await readAgain(waitUntilDecided());
      else if (isVote && !isLoggedOut) await readAgain(Promise.resolve());
    } finally {
      isPending = false;
    }
    // Pressed again meanwhile.
    if (storedState !== likes.isLike) syncLikes();
  }

  /**
   * Reads the stored state after `decided`, and shows it unless the user has pressed since.
   * @param {Promise<void>} decided
   */
  async function readAgain(decided) {
    const shown = likes;
    await decided;
    const fresh = await readLikes().catch(() => undefined);
    if (!fresh) return;
    if (likes === shown) set(fresh);
    else {
      storedState = fresh.isLike;
      if (isVote) change({ isLike: likes.isLike, liked: fresh.liked });
    }
  }

  /** @param {Likes} fresh */
  function set(fresh) {
    storedState = fresh.isLike;
    change({ isLike: fresh.isLike, liked: fresh.liked });
  }

  return { root, set: (fresh) => !isPending && set(fresh) };
}
