// Why the marked event decides the failure.

import { t } from "../../core/language.js";

/**
 * Returns why the event at which a case went wrong decides its failure.
 * @param {import("../server.js").Case} case_
 */
export function mistakeText({ trigger, seen, story, mistake }) {
  const has = (/** @type {string} */ failure) => failure in seen;
  switch (trigger) {
    case "three_at_once": return meetingText(mistake === null ? "" : story[mistake].kind.what, has("refused_while_left") && !has("bought_twice"));
    case "stopped_before_write":
      return t("租约早已到期，锁换了主人，醒来的持有者却不知道，照原计划往下走：最后写数据的地方没有拦它。", "The lease is over and the lock has changed hands. The holder does not know, and goes on as planned: the store that takes its write does not stop it.");
    case "stopped_before_release":
      return t("醒来的持有者去释放“自己的”锁，而锁已经属于下一个请求：后来者因此闯了进来。", "The holder releases “its” lock, which belongs to the next request by now: a third one can walk in.");
    case "killed":
      if (has("stuck")) return t("锁已经加上，过期时间还没设，持有者就死了：这把锁永远不会消失。", "The lock is set, its expiry is not, and the holder dies: the lock will never go away.");
      if (has("lost")) return t("已经答应用户的订单只在这个进程的内存里，随它一起没了。", "The accepted orders were in the memory of this process only, and died with it.");
      if (has("bought_twice")) return t("订单已提交，消息还没标记为已处理：它会再投递一次，再写一张订单。", "The order is committed and its message not marked as done: the message comes again, and so does an order.");
      return t("一边已经扣了库存，另一边还没有订单：这件货谁也买不到了。", "One store has counted the unit, the other has no order: nobody can buy this unit.");
    case "failed_over":
      if (has("lost") && !has("oversold")) return t("从节点没收到的抢购消失了：答应过的订单不会再有。", "Claims that the replica had not received are gone: accepted orders will never be written.");
      if (has("oversold")) return t("接替的从节点少了几次扣减：库存倒退，卖过的又卖一遍。", "The replica lacks the newest counts: the stock is set back, and units are sold again.");
      return t("接替的从节点没有这把锁：第二个请求也能拿到它。", "The replica does not know the lock: a second request can take it.");
    case "returned":
      return t("件数已经退回，计数器却还没回到零以上：有货也卖不出去。", "The units are back, but the counter is still below zero: they cannot be sold.");
    default: return "";
  }
}

/**
 * @param {string} what kind of the event
 * @param {boolean} isRefusal whether buyers were refused, and none bought twice
 */
function meetingText(what, isRefusal) {
  switch (what) {
    case "replied": return t("还有货，这个请求却被拒绝：输掉一次竞争，被当成了没货。", "Units are left and this request is refused: it lost a race, which is not the same as sold out.");
    case "called": return t("前一个请求写的订单还没提交，这个请求来查，什么也看不到：它会再买一次。", "The order of the request before is not committed. This one looks, sees nothing, and will buy again.");
    default: return isRefusal
      ? t("又一个请求读到同一个版本号：只有一个更新得成功，其余的会被当成没货，而货还在。", "Another request has the same version number. One of them can update; the others will be told “sold out” while units are left.")
      : t("又一个请求以旧数据通过了检查：从这里起，两个请求都相信自己可以买，再没有谁会复查。", "Another request passes the check by old data. From here on both believe that they may buy, and nobody checks again.");
  }
}
