// Names of triggers, steps, failures, points and replies. Unknown codes are shown as they are.

import { t } from "../core/language.js";

/** @param {string} trigger */
export function triggerName(trigger) {
  switch (trigger) {
    case "three_at_once": return t("三连发", "three at once");
    case "stopped_before_write": return t("写入前暂停", "stopped before the write");
    case "stopped_before_release": return t("释放前暂停", "stopped before the release");
    case "killed": return t("进程被杀", "killed");
    case "failed_over": return t("主从切换", "failover");
    case "returned": return t("退回再卖", "units returned");
    default: return trigger.replaceAll("_", " ");
  }
}

/**
 * Returns a name that fits into a narrow column.
 * @param {string} trigger
 */
export function triggerShort(trigger) {
  switch (trigger) {
    case "three_at_once": return t("三连发", "3 at once");
    case "stopped_before_write": return t("写入前暂停", "stop before write");
    case "stopped_before_release": return t("释放前暂停", "stop before release");
    case "returned": return t("退回再卖", "units back");
    default: return triggerName(trigger);
  }
}

/** @param {string} words of a step of a comparison */
export function stepName(words) {
  switch (words) {
    case "order": return t("顺序", "order");
    case "backlog": return t("积压", "backlog");
    case "two consumers": return t("两个消费者", "two consumers");
    case "replay": return t("回溯", "replay");
    case "bound": return t("上限", "bound");
    case "consumer killed": return t("杀消费者", "consumer killed");
    case "broker killed": return t("杀队列", "broker killed");
    case "throughput": return t("吞吐", "throughput");
    case "experiments": return t("四个实验", "experiments");
    case "100 fans": return t("100个粉丝", "100 fans");
    case "10,000 fans": return t("10,000个粉丝", "10,000 fans");
    case "absent shops": return t("不存在的商铺", "absent shops");
    case "a hot entry expires": return t("热点过期", "a hot entry expires");
    case "entries filled together": return t("一起写入的键", "entries filled together");
    case "a read between the steps of a write": return t("写中有读", "a read between the steps of a write");
    case "a write between the steps of a read": return t("读中有写", "a write between the steps of a read");
    case "holder of the lock killed": return t("拿锁的人被杀", "holder of the lock killed");
    case "reads": return t("读取", "reads");
    default: return words;
  }
}

/** @param {string} failure */
export function failureName(failure) {
  switch (failure) {
    case "oversold": return t("超卖", "oversold");
    case "bought_twice": return t("重复购买", "bought twice");
    case "refused_while_left": return t("有货却拒", "refused while left");
    case "stuck": return t("卡死", "stuck");
    case "lost": return t("丢单", "lost");
    case "books_off": return t("账目不平", "books off");
    default: return failure.replaceAll("_", " ");
  }
}

/** @param {string} failure */
export function failureMeaning(failure) {
  switch (failure) {
    case "oversold": return t("订单比库存多", "more orders than units");
    case "bought_twice": return t("同一用户有多张订单", "several orders of one user");
    case "refused_while_left": return t("还有货，却拒绝了买家", "a buyer was refused while units were left");
    case "stuck": return t("买家或订单永远没有结果", "no end comes for a buyer or a claim");
    case "lost": return t("已答应的抢购没有订单", "an accepted claim without an order");
    case "books_off": return t("库存加订单不等于总数", "stock and orders are not the units of the sale");
    default: return "";
  }
}

/**
 * Returns a number of orders, units or users, as a failure counts them.
 * @param {string} failure
 * @param {number} number
 */
export function failureExtent(failure, number) {
  switch (failure) {
    case "oversold": case "books_off": return t(`${number}件`, number === 1 ? "1 unit" : `${number} units`);
    case "refused_while_left": return t(`${number}人`, number === 1 ? "1 user" : `${number} users`);
    case "bought_twice": case "lost": return t(`${number}单`, number === 1 ? "1 order" : `${number} orders`);
    default: return String(number);
  }
}

/** @param {string} point */
export function pointName(point) {
  switch (point) {
    case "locked": return t("已加锁，未设过期", "locked, no expiry yet");
    case "checked": return t("已检查，未写入", "checked, nothing written");
    case "taken": return t("已扣库存，未写订单", "unit taken, no order yet");
    case "unlocked": return t("已解锁，未提交", "unlocked, not committed");
    case "releasing": return t("已做完，未释放锁", "done, lock still held");
    case "owner_checked": return t("已比对，未删锁", "owner compared, lock not deleted");
    case "dequeued": return t("已取消息，未写订单", "message taken, no order yet");
    case "stored": return t("已提交，未确认消息", "committed, message not marked");
    default: return point.replaceAll("_", " ");
  }
}

/** @param {string} reply */
export function replyName(reply) {
  switch (reply) {
    case "accepted": return t("抢到了", "accepted");
    case "already bought": return t("已买过", "already bought");
    case "sold out": return t("售罄", "sold out");
    case "busy": return t("系统繁忙", "busy");
    case "failed": return t("出错", "failed");
    default: return reply;
  }
}

/** @param {number} instance */
export function instanceLetter(instance) {
  return String.fromCharCode(65 + instance);
}

/** @param {number} instance */
export function instanceName(instance) {
  return t(`实例${instanceLetter(instance)}`, `instance ${instanceLetter(instance)}`);
}
