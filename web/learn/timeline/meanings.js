// What the result of a command or statement means to a buyer's request.

import { t } from "../../core/language.js";

/** @typedef {import("../server.js").Call} Call */
/** Text of a call, and what its result means. @typedef {[RegExp, (result: string) => string]} Meaning */

const gotLock = () => t("拿到了锁", "this request has the lock now");
const lockTaken = () => t("锁被别人占着", "another request holds the lock");

/** @type {Meaning[]} */
const MEANINGS = [
  [/^SET \S+ \S+ NX/, (result) => (result === "OK" ? gotLock() : lockTaken())],
  [/^SETNX/, (result) => (result === "1" ? gotLock() : lockTaken())],
  [/^PEXPIRE/, () => t("锁有了过期时间", "the lock has an expiry now")],
  [/^DEL lock/, (result) => (result === "0" ? t("锁早就不在了", "the lock was gone already") : t("锁被删掉，不管它属于谁", "the lock is deleted, whoever held it"))],
  [/^EVAL delete the lock if/, (result) => (result === "0" ? t("锁不是自己的，没有删", "the lock is not its own and stays") : t("是自己的锁，已删除", "its own lock is deleted"))],
  [/^EVAL enter the lock/, (result) => (/^\d/.test(result) ? t(`锁被占着，租约还剩${result}毫秒`, `the lock is held for ${result} ms more`) : gotLock())],
  [/^EVAL renew/, (result) => (result === "1" ? t("续期成功", "the lease is renewed") : t("锁已经不是自己的", "the lock is not its own any more"))],
  [/^EVAL leave/, (result) => (result === "1" ? t("释放锁，叫醒等待者", "the lock is released and a waiter woken") : t("锁已经不是自己的", "the lock is not its own any more"))],
  [/^EVAL take a unit/, (result) => [
    t("领到一件", "a unit is taken"), t("已售罄", "nothing is left"), t("这位用户已买过", "this user has bought before"),
  ][Number(result)] ?? ""],
  [/^EVAL give the unit/, () => t("件数退回库存", "the unit returns to the stock")],
  [/^GET stock/, (result) => t(`看到还有${result}件`, `${result} left, as far as this request knows`)],
  [/^GET lock/, (result) => (result === "nil" ? t("锁早就不在了", "the lock is gone") : t("读出锁的持有者来比对", "the owner of the lock, to compare"))],
  [/^DECR stock/, (result) => (Number(result) < 0 ? t("计数器减成了负数", "the counter is below zero") : t(`扣一件，剩${result}件`, `a unit is taken, ${result} left`))],
  [/^INCR stock/, () => t("件数退回计数器", "a unit returns to the counter")],
  [/^INCR fencing-token/, (result) => t(`领到令牌${result}`, `token ${result}`)],
  [/^SELECT COUNT\(\*\) FROM orders/, (result) => (result === "0" ? t("这位用户还没有订单", "no order of this user is seen") : t(`已有${result}张订单`, `the user has ${result === "1" ? "an order" : `${result} orders`}`))],
  [/^SELECT stock/, (result) => t(`看到还有${result}件`, `${result} left, as far as this request knows`)],
  [/^SELECT version/, (result) => (result === "no row" ? t("没货了", "nothing is left") : t(`版本号是${result}`, `the version is ${result}`))],
  [/^SELECT GET_LOCK/, (result) => (result === "1" ? gotLock() : t("没等到锁", "the lock did not become free"))],
  [/^SELECT RELEASE_LOCK/, () => t("释放了锁", "the lock is released")],
  [/^SELECT user FROM user_locks/, () => t("锁住了这位用户的行", "the row of the user is locked")],
  [/^SELECT token FROM fences/, (result) => t(`数据库里最新的令牌是${result}`, `the newest token in the database is ${result}`)],
  [/^INSERT INTO fences/, (result) => (result.startsWith("0") ? t("令牌比数据库里的旧", "the token is not newer than the stored one") : t("数据库记下了令牌", "the database stores the token"))],
  [/^INSERT IGNORE INTO buyers/, (result) => (result.startsWith("0") ? t("唯一键：这位用户已买过", "unique key: this user has bought before") : t("唯一键：登记成功", "unique key: the buyer is noted"))],
  [/^INSERT IGNORE INTO done_messages/, (result) => (result.startsWith("0") ? t("这条消息处理过了", "this message was done before") : t("消息第一次处理", "the message is new"))],
  [/^INSERT IGNORE INTO orders/, (result) => (result.startsWith("0") ? t("订单号已存在，当作重复丢弃", "the order id is taken: dropped as a repetition") : t("写入一张订单", "an order is written"))],
  [/^INSERT INTO orders/, () => t("写入一张订单", "an order is written")],
  [/^INSERT INTO messages/, () => t("消息存进了数据库", "the message is in the database")],
  [/^UPDATE messages SET state/, () => t("消息标记为已处理", "the message is marked as done")],
  [/^UPDATE (vouchers|buckets) SET stock = stock - 1/, (result) => (result.startsWith("0") ? t("一行都没更新到", "no row was changed") : t("扣掉一件", "a unit is taken"))],
  [/^UPDATE (vouchers|buckets) SET stock = stock \+/, () => t("件数退回库存", "the unit returns to the stock")],
  [/^DELETE FROM orders/, () => t("取消订单", "the order is cancelled")],
  [/^COMMIT/, () => t("提交了，别人从此看得见", "committed: from now on others see it")],
  [/^ROLLBACK/, () => t("全部撤销", "everything is undone")],
];

/**
 * Returns what the result means; empty if nobody knows.
 * @param {Call} call
 */
export function meaningOf({ text, result }) {
  return MEANINGS.find(([pattern]) => pattern.test(text))?.[1](result) ?? "";
}
