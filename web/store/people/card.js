// What somebody tells about themselves.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { avatar } from "../../parts/avatar.js";
import { chip } from "../../parts/chip.js";

/** @typedef {import("../../core/session.js").Person} Person */

/**
 * @typedef {object} Card
 * @property {number} userId
 * @property {string} city
 * @property {string} introduce
 * @property {number} fans
 * @property {number} followee how many they follow
 * @property {boolean} gender `false` male, `true` female
 * @property {string} [birthday] `2000-01-31`
 * @property {number} credits
 * @property {number} level
 */

/**
 * @param {Person} person
 * @param {Card | undefined} card
 * @param {{action?: Node | null, tab?: (tab: "fans" | "followees") => void}} [options] `tab`: opens a list that is on the same
 * screen; else the counts lead to the person's
 */
export function personCard(person, card, { action, tab } = {}) {
  /**
   * @param {number} number
   * @param {string} text
   * @param {"fans" | "followees"} list
   */
  const count = (number, text, list) => {
    const inside = [h("strong", { class: "number" }, number), h("span", { class: "small quiet" }, text)];
    return tab ? h("button", { type: "button", class: "count", onclick: () => tab(list) }, inside)
      : h("a", { class: "count", href: `#/person/${person.id}?tab=${list}` }, inside);
  };
  return h("section", { class: "card pad person-card", "aria-label": person.nickName },
    h("div", { class: "row person-top" }, avatar(person, { large: true }),
      h("div", { class: "grow stack tight" },
        h("h1", { class: "person-name" }, person.nickName),
        h("p", { class: "row wrap tight small quiet" },
          card && card.level > 0 && chip(t(`${card.level} 级会员`, `Level ${card.level}`), "accent"),
          card?.city && h("span", null, card.city),
          card?.birthday && h("span", null, birthdayText(card.birthday)))),
      action),
    h("p", { class: "person-words" }, card?.introduce || h("span", { class: "quiet" }, t("还没有介绍自己。", "Has not said anything yet."))),
    h("div", { class: "counts" },
      count(card?.followee ?? 0, t("关注", "Following"), "followees"),
      count(card?.fans ?? 0, t("粉丝", "Followers"), "fans"),
      h("span", { class: "count" }, h("strong", { class: "number" }, card?.credits ?? 0), h("span", { class: "small quiet" }, t("积分", "Credits")))));
}

/** @param {string} day `2000-01-31`: the day of the year; the year is nobody's business */
function birthdayText(day) {
  const text = new Intl.DateTimeFormat(t("zh-CN", "en-GB"), { timeZone: "UTC", month: "short", day: "numeric" }).format(Date.parse(day));
  return t(`生日 ${text}`, `Birthday ${text}`);
}
