// The card of a user's profile.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { avatar } from "../../parts/avatar.js";
import { chip } from "../../parts/chip.js";

/** @typedef {import("../../core/session.js").Person} Person */

/**
 * @typedef {object} Profile
 * @property {number} userId
 * @property {string} [city] absent without a log-in, like gender and birthday
 * @property {string} introduce
 * @property {number} fans
 * @property {number} followee number of followed users
 * @property {boolean} [gender] `false`: male, `true`: female
 * @property {string} [birthday] `2000-01-31`
 * @property {number} credits
 * @property {number} level
 */

/**
 * @param {Person} person
 * @param {Profile | undefined} profile
 * @param {{action?: Node | null, tab?: (openList: "fans" | "followees") => void}} [options] `openList`: opens
 * a list on the same screen; otherwise the counts link to the user's screen
 */
export function profileCard(person, profile, { action, tab: openList } = {}) {
  /**
   * @param {number} number
   * @param {string} text
   * @param {"fans" | "followees"} list
   */
  const count = (number, text, list) => {
    const inside = [h("strong", { class: "number" }, number), h("span", { class: "small quiet" }, text)];
    return openList ? h("button", { type: "button", class: "count", onclick: () => openList(list) }, inside)
      : h("a", { class: "count", href: `#/person/${person.id}?tab=${list}` }, inside);
  };
  return h("section", { class: "card pad person-card", "aria-label": person.nickName },
    h("div", { class: "row person-top" }, avatar(person, { large: true }),
      h("div", { class: "grow stack tight" },
        h("h1", { class: "person-name" }, person.nickName),
        h("p", { class: "row wrap tight small quiet" },
          profile && profile.level > 0 && chip(t(`${profile.level} 级会员`, `Level ${profile.level}`), "accent"),
          profile?.city && h("span", null, profile.city),
          profile?.birthday && h("span", null, birthdayText(profile.birthday)))),
      action),
    h("p", { class: "person-words" }, profile?.introduce || h("span", { class: "quiet" }, t("还没有介绍自己。", "No introduction yet."))),
    h("div", { class: "counts" },
      count(profile?.followee ?? 0, t("关注", "Following"), "followees"),
      count(profile?.fans ?? 0, t("粉丝", "Followers"), "fans"),
      h("span", { class: "count" }, h("strong", { class: "number" }, profile?.credits ?? 0), h("span", { class: "small quiet" }, t("积分", "Credits")))));
}

/** @param {string} day shown without the year, for privacy */
function birthdayText(day) {
  const text = new Intl.DateTimeFormat(t("zh-CN", "en-GB"), { timeZone: "UTC", month: "short", day: "numeric" }).format(Date.parse(day));
  return t(`生日 ${text}`, `Birthday ${text}`);
}
