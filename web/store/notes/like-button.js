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
 * @param {(isLike: boolean) => Promise<unknown>} options.save sets the stored state; idempotent
 * @param {() => Promise<Likes | undefined>} options.look reads the stored state, for requests in doubt
 * @param {(isLike: boolean) => void} [options.changed]
 * @param {boolean} [options.isVote] a vote for a helpful review instead of a like
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
    show({ isLike: !likes.isLike, liked: Math.max(0, likes.liked + (likes.isLike ? -1 : 1)) });
    onChange?.(likes.isLike);
  }

  /** Saves until the stored state equals the shown one: the user may press again meanwhile. */
  async function syncLikes() {
    isPending = true;
    try {
      while (storedState !== likes.isLike) {
        const { isLike } = likes;
        await save(isLike);
        storedState = isLike;
      }
    } catch (error) {
      if (storedState !== likes.isLike) toggleShown();
      if (!redirectIfUnauthorized(error)) showError(error);
      if (isInDoubt(error)) await resolveDoubt();
    } finally {
      isPending = false;
    }
    // Pressed again while the doubt was resolved.
    if (storedState !== likes.isLike) syncLikes();
  }

  async function resolveDoubt() {
    const shown = likes;
    await waitUntilDecided();
    const fresh = await readLikes().catch(() => undefined);
    if (!fresh) return;
    if (likes === shown) set(fresh);
    else storedState = fresh.isLike;
  }

  /** @param {Likes} fresh */
  function set(fresh) {
    storedState = fresh.isLike;
    show({ isLike: fresh.isLike, liked: fresh.liked });
    onChange?.(fresh.isLike);
  }

  return { root, set: (fresh) => !isPending && set(fresh) };
}
