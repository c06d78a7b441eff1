// A follow button with an optimistic update, reverted on failure.

import { call, get, hasToken } from "../../core/api.js";
import { getCached, setCached, invalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { cachedMe } from "../../core/session.js";
import { icon } from "../../parts/icons.js";
import { showError } from "../../parts/toast.js";
import { goToLogin, redirectIfUnauthorized } from "../login-guard.js";

/**
 * Returns null for the user's own profile and in kiosk mode.
 * @param {{id: number, name: string}} person
 * @param {AbortSignal} signal
 * @param {(isFollowing: boolean) => void} [onChange]
 */
export function followButton({ id, name }, signal, onChange) {
  if (isKiosk || cachedMe()?.id === id) return null;
  const cacheKey = `follows ${id}`;
  let isFollowing = getCached(cacheKey) === true;
  let isPending = false;
  const root = h("button", { type: "button", onclick: toggle });
  show();
  refresh();
  return root;

  /** Reads the stored state. */
  async function refresh() {
    if (!hasToken()) return;
    const stored = await get(`/follow/or/not/${id}`, { signal }).catch(() => isFollowing);
    if (!isPending && stored !== isFollowing) setFollowing(stored);
  }

  function show() {
    root.className = isFollowing ? "button follow" : "button main follow";
    root.setAttribute("aria-label", isFollowing ? t(`已关注${name}，点击取消关注`, `Following ${name}. Press to unfollow`) : t(`关注${name}`, `Follow ${name}`));
    fill(root, icon(isFollowing ? "check" : "plus"), h("span", null, isFollowing ? t("已关注", "Following") : t("关注", "Follow")));
  }

  /** @param {boolean} to */
  function setFollowing(to) {
    isFollowing = to;
    setCached(cacheKey, to);
    show();
  }

  async function toggle() {
    if (!hasToken()) {
      goToLogin();
      return;
    }
    if (isPending) return;
    isPending = true;
    setFollowing(!isFollowing);
    onChange?.(isFollowing);
    try {
      await call("PUT", `/follow/${id}/${isFollowing}`);
      invalidate("notes following");
      invalidate(`people ${cachedMe()?.id}`);
    } catch (error) {
      setFollowing(!isFollowing);
      onChange?.(isFollowing);
      if (!redirectIfUnauthorized(error)) showError(error);
    } finally {
      isPending = false;
    }
    // Without a response, the change is in doubt.
    refresh();
  }
}
