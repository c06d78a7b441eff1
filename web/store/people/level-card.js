// The user's level: the way to the next level, and the refusal of a sale for members of a higher level.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { icon } from "../../parts/icons.js";
import { meter } from "../../parts/meter.js";

/**
 * The response of `GET /user/level`.
 * @typedef {object} OwnLevel
 * @property {number} level
 * @property {number} credits
 * @property {number} [next] credits of the next level; absent at the highest level
 * @property {number} missing credits missing to the next level
 * @property {{level: number, credits: number}[]} levels
 */

/**
 * @param {OwnLevel} own
 * @param {{isLink?: boolean}} [options] `isLink`: leads to the screen of the level
 */
export function levelCard(own, { isLink = false } = {}) {
  const bar = meter(t("升级进度", "Progress to the next level"));
  const text = nextLevelText(own);
  const begin = own.levels.find(({ level }) => level === own.level)?.credits ?? 0;
  // A level above the one earned begins at 0 credits.
  const from = begin <= own.credits ? begin : 0;
  if (own.next === undefined) bar.show(1, 1, text);
  else bar.show(own.credits - from, own.next - from, text);
  const content = [
    h("span", { class: "row apart" },
      h("strong", { class: "level-name" }, t(`${own.level} 级会员`, `Level ${own.level}`)),
      h("span", { class: "row tight small quiet number" }, t(`${own.credits} 积分`, `${own.credits} credits`), isLink && icon("forward"))),
    bar.root,
    h("span", { class: "small quiet" }, text),
  ];
  return isLink ? h("a", { class: "card pad stack level-card", href: "#/me/level" }, content)
    : h("section", { class: "card pad stack level-card", "aria-label": t("会员等级", "Membership level") }, content);
}

/** @param {OwnLevel} own */
function nextLevelText({ level, next, missing }) {
  return next === undefined ? t("已是最高等级", "Highest level")
    : t(`再得 ${missing} 积分升到 ${level + 1} 级`, `${missing} more ${missing === 1 ? "credit" : "credits"} to level ${level + 1}`);
}

/** @param {{needed: number, has: number}} shortfall levels: needed by a sale, and of the user */
export function shortfallText({ needed, has }) {
  return t(`需要 ${needed} 级会员，你是 ${has} 级`, `Members of level ${needed}; you are level ${has}`);
}
