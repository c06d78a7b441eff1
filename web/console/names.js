// What the API says in one word, in the reader's.

import { both } from "../core/language.js";
import { chip } from "../parts/chip.js";

/**
 * @param {string} state of a sale
 * @param {boolean} [paused] which the state does not say of a sale that has not begun
 */
export function saleState(state, paused = false) {
  switch (state) {
    case "NOT_OPEN": return paused ? chip(both("未开始 · 已暂停", "Not open yet · on hold"), "sale") : chip(both("未开始", "Not open yet"), "accent");
    case "OPEN": return chip(both("进行中", "On"), "good");
    case "PAUSED": return chip(both("已暂停", "On hold"), "sale");
    case "SOLD_OUT": return chip(both("已售罄", "Sold out"));
    case "ENDED": return chip(both("已结束", "Over"));
    default: return chip(state);
  }
}

/** Statuses of orders, as the record has them. */
export const ORDER_STATUSES = [1, 2, 3, 4, 5, 6];

/** @param {number} status of an order */
export function orderStatusText(status) {
  const names = [
    both("入库中", "Being written"), both("未支付", "Unpaid"), both("已支付", "Paid"), both("已核销", "Used"),
    both("已取消", "Cancelled"), both("退款中", "Being refunded"), both("已退款", "Refunded"),
  ];
  return names[status] ?? String(status);
}

/** @param {number} status of an order */
export function orderStatus(status) {
  /** @type {("" | "sale" | "accent" | "good")[]} */
  const looks = ["", "sale", "accent", "good", "", "sale", ""];
  return chip(orderStatusText(status), looks[status] ?? "");
}

/** @param {number} status of a voucher */
export function shelfStatus(status) {
  switch (status) {
    case 1: return chip(both("在架", "On the shelf"), "good");
    case 2: return chip(both("下架", "Off the shelf"));
    default: return chip(both("已过期", "Expired"));
  }
}

/** @param {string} code why a claim was refused, as the metrics name it */
export function refusalText(code) {
  switch (code) {
    case "sold_out": return both("已抢光", "Sold out");
    case "already_bought": return both("已抢过", "Bought already");
    case "rate_limited": return both("太频繁", "Too often");
    case "not_logged_in": return both("未登录", "Not logged in");
    case "not_open": return both("未开始", "Not open yet");
    case "ended": return both("已结束", "Over");
    case "paused": return both("已暂停", "On hold");
    case "unknown_sale": return both("没有这场秒杀", "No such sale");
    case "level_too_low": return both("等级不够", "Level too low");
    case "busy": return both("繁忙", "Busy");
    case "unavailable": return both("存储故障", "Store in trouble");
    case "disk_full": return both("磁盘已满", "Disk full");
    case "other": return both("其他", "Other");
    default: return code;
  }
}

/** @param {string} payment how orders are paid for */
export function paymentText(payment) {
  switch (payment) {
    case "none": return both("无需支付", "none");
    case "sandbox": return both("模拟支付", "sandbox");
    default: return payment;
  }
}

/** @param {string} durability what an answer is worth */
export function durabilityText(durability) {
  switch (durability) {
    case "power": return both("断电不丢", "survives a power cut");
    case "process": return both("进程崩溃不丢", "survives a crash of the process");
    case "memory": return both("只在内存", "in memory alone");
    case "relaxed": return both("每200毫秒落盘", "written every 200 ms");
    default: return durability;
  }
}

/** @param {string} name of what the mall rests on */
export function partText(name) {
  switch (name) {
    case "disk": return both("磁盘", "Disk");
    case "order log": return both("订单日志", "Order log");
    case "clock": return both("时钟", "Clock");
    default: return name;
  }
}

/** @param {string} role of a user */
export function roleText(role) {
  return role === "operator" ? both("管理员", "Operator") : both("顾客", "Customer");
}
