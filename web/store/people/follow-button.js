// Following somebody: shown as done at once, and taken back if the mall did not take it.

import { call, get, hasToken } from "../../core/api.js";
import { getCached, setCached, invalidate } from "../../core/copies.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/kept.js";
import { t } from "../../core/language.js";
import { cachedMe } from "../../core/session.js";
import { icon } from "../../parts/icons.js";
import { showError } from "../../parts/toast.js";
import { toLogIn, wantsLogIn } from "../entry.js";

/**
 * Nothing for oneself, and in a kiosk.
 * @param {{id: number, name: string}} person
 * @param {AbortSignal} signal
 * @param {(follows: boolean) => void} [changed]
 */
export function followButton({ id, name }, signal, changed) {
  if (isKiosk || cachedMe()?.id === id) return null;
  const copy = `follows ${id}`;
  let follows = getCached(copy) === true;
  let isAsking = false;
  const root = h("button", { type: "button", onclick: press });
  show();
  look();
  return root;

  /** What the mall knows. */
  async function look() {
    if (!hasToken()) return;
    const known = await get(`/follow/or/not/${id}`, { signal }).catch(() => follows);
    if (!isAsking && known !== follows) turn(known);
  }

  function show() {
    root.className = follows ? "button follow" : "button main follow";
    root.setAttribute("aria-label", follows ? t(`已关注${name}，按下取消`, `Following ${name}; press to stop`) : t(`关注${name}`, `Follow ${name}`));
    fill(root, icon(follows ? "check" : "plus"), h("span", null, follows ? t("已关注", "Following") : t("关注", "Follow")));
  }

  /** @param {boolean} to */
  function turn(to) {
    follows = to;
    setCached(copy, to);
    show();
  }

  async function press() {
    if (!hasToken()) {
      toLogIn();
      return;
    }
    if (isAsking) return;
    isAsking = true;
    turn(!follows);
    changed?.(follows);
    try {
      await call("PUT", `/follow/${id}/${follows}`);
      invalidate("notes following");
      invalidate(`people ${cachedMe()?.id}`);
    } catch (error) {
      turn(!follows);
      changed?.(follows);
      if (!wantsLogIn(error)) showError(error);
    } finally {
      isAsking = false;
    }
    // Where no answer came, it may have been done.
    look();
  }
}
