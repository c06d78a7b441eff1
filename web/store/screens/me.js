// The user's own page: profile, personal links and settings.

import { get, hasToken } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { go } from "../../core/router.js";
import { cachedMe, logOut, me } from "../../core/session.js";
import { button, linkButton } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { icon } from "../../parts/icons.js";
import { confirmAction } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { goToLogin, redirectIfUnauthorized } from "../login-guard.js";
import { levelCard } from "../people/level-card.js";
import { logOutText } from "../people/log-out.js";
import { profileCard } from "../people/profile-card.js";
import { settings } from "../people/settings.js";

/** @typedef {import("../people/profile-card.js").Person} Person */
/** @typedef {import("../people/profile-card.js").Profile} Card */

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title, restoreScroll }) {
  title(t("我的", "Me"));
  const top = h("div", null);
  const isLoggedIn = hasToken();
  const levelPlace = isLoggedIn && !isKiosk ? h("div", null, skeletons(1, "6.5rem")) : null;
  const tiles = h("ul", { class: "tiles" }, ownLinks(cachedMe()));
  root.append(h("div", { class: "me" },
    h("div", { class: "stack" }, top, levelPlace, isLoggedIn && h("nav", { "aria-label": t("我的", "My account") }, tiles)),
    h("div", { class: "stack" }, settings(signal), isLoggedIn && logOutButton())));
  if (!isLoggedIn) {
    fill(top, loginInvitation());
    return;
  }
  fill(top, skeletons(1, "var(--person-card)"));
  await Promise.all([refresh(), refreshLevel()]);

  async function refreshLevel() {
    if (!levelPlace) return;
    try {
      await staleWhileRevalidate("level", () => get("/user/level", { signal }), (own) => fill(levelPlace, levelCard(own, { isLink: true })));
    } catch (error) {
      // The profile reports a lost session.
      if (!signal.aborted && !redirectIfUnauthorized(error)) fill(levelPlace, errorState(error, refreshLevel));
    }
  }

  async function refresh() {
    try {
      await staleWhileRevalidate("me", loadProfile, draw);
    } catch (error) {
      if (signal.aborted) return;
      if (!redirectIfUnauthorized(error)) fill(top, errorState(error, refresh));
    }
  }

  /** @returns {Promise<[Person, Card | undefined]>} */
  async function loadProfile() {
    const person = await me();
    if (!person) throw new DOMException("nobody is logged in any more", "AbortError");
    return [person, await get(`/user/info/${person.id}`, { signal })];
  }

  /** @param {[Person, Card | undefined]} found */
  function draw([person, card]) {
    const edit = isKiosk ? null : linkButton(t("编辑", "Edit"), "#/me/edit", { icon: "edit" });
    fill(top, profileCard(person, card, { action: edit }));
    fill(tiles, ownLinks(person));
    restoreScroll();
  }
}

/** @param {Person | null} person */
function ownLinks(person) {
  /** @type {[string, import("../../parts/icons.js").IconName, string][]} */
  const all = [["#/orders", "order", t("我的订单", "My orders")], ["#/sign-in", "calendar", t("每日签到", "Daily check-in")],
    [person ? `#/person/${person.id}` : "#/me", "note", t("我的笔记", "My notes")], ["#/me/reviews", "star", t("我的评价", "My reviews")], ["#/write", "edit", t("写笔记", "Write a note")]];
  return all.filter(([to]) => !isKiosk || to === "#/orders").map(([to, name, text]) =>
    h("li", null, h("a", { class: "card tile", href: to }, icon(name), h("span", null, text))));
}

function loginInvitation() {
  return h("section", { class: "card pad stack welcome" },
    h("h1", null, t("你好！", "Hello!")),
    h("p", { class: "quiet" }, isKiosk
      ? t("登录后可以抢购，也能看到自己的订单。", "Log in to buy vouchers and see your orders.")
      : t("登录后可以抢购、写笔记、关注别人，还有每日签到。", "Log in to buy vouchers, write notes, follow people and check in daily.")),
    button(t("登录", "Log in"), () => goToLogin(), { look: ["main", "wide"] }));
}

function logOutButton() {
  return button(t("退出登录", "Log out"), async () => {
    const isConfirmed = await confirmAction(t("退出登录？", "Log out?"), logOutText(), t("退出", "Log out"));
    if (!isConfirmed) return;
    // Local state is cleared at once, before the server responds.
    logOut();
    go("/", { replace: true });
  }, { look: ["wide"], icon: "out" });
}
