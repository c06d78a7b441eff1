// Labels of questions and verdicts on feeds and caches. Unknown ones are shown as they are.

import { t } from "../core/language.js";

/** @param {string} question on a feed */
export function feedQuestionText(question) {
  switch (question) {
    case "followed_late": return t("新粉丝看到的旧笔记", "Earlier notes a new fan sees");
    case "unfollowed": return t("取关之后", "After unfollowing");
    case "deleted": return t("删掉3条后的一页", "A page after 3 deletions");
    case "writer_killed": return t("写完笔记、进收件箱前被杀", "Writer killed before the inboxes");
    default: return question;
  }
}

/** @param {string} verdict on a feed */
export function feedVerdictText(verdict) {
  switch (verdict) {
    case "gone": return t("消失", "gone");
    case "stay": return t("还在", "stay");
    case "all see it": return t("都能看到", "all see it");
    case "all see it later": return t("稍后都能看到", "all see it later");
    case "some see it": return t("有人看不到", "some see it");
    case "nobody sees it": return t("永远没人看到", "nobody ever sees it");
    default: return t(
      verdict.replace(/^(\d+) of (\d+)$/, "$2条中$1条").replace(/^(\d+) notes$/, "剩$1条").replace(/^(\d+) stay$/, "$1条还在"),
      verdict);
  }
}

/** @param {string} question on a cache */
export function cacheQuestionText(question) {
  switch (question) {
    case "absent": return t("穿透：读不存在的商铺", "Reads of absent shops");
    case "hot_expired": return t("击穿：热点过期，50人同时读", "A hot entry expires: 50 callers");
    case "while_loading": return t("重建期间", "While it is loaded");
    case "filled_together": return t("雪崩：一起写入的键", "Entries filled together");
    case "read_in_write": return t("写到一半来了读", "A read within a write");
    case "write_in_read": return t("读到一半来了写", "A write within a read");
    case "holder_killed": return t("拿着锁的人死了", "Holder of the lock killed");
    default: return question;
  }
}

/** @param {string} verdict on a cache */
export function cacheVerdictText(verdict) {
  switch (verdict) {
    case "each loads": return t("人人查库", "each loads");
    case "one loads": return t("一人查库", "one loads");
    case "wait": return t("都等着", "callers wait");
    case "some wait": return t("有人等着", "some wait");
    case "old value at once": return t("立刻得到旧值", "old value at once");
    case "together": return t("一起过期", "expire together");
    case "spread": return t("错开过期", "spread");
    case "old value stays": return t("旧值留下", "old value stays");
    case "new value": return t("新值", "new value");
    case "no value": return t("没有值", "no value");
    case "go on": return t("不受影响", "others go on");
    case "wait for its end": return t("等到锁过期", "others wait for its end");
    default: return t(verdict.replace(/^(\d+) of (\d+)$/, "$2次中$1次查库").replace(/^(\d+) load$/, "$1人查库"),
      verdict.replace(/^(\d+) of (\d+)$/, "$1 of $2 reach the database"));
  }
}
