// Labels of the API's codes.

import { t } from "../core/language.js";
import { chip } from "../parts/chip.js";

/**
 * @param {string} state of a sale
 * @param {boolean} [paused] reported separately for a sale that has not opened
 */
export function saleStateChip(state, paused = false) {
  switch (state) {
    case "NOT_OPEN": return paused ? chip(t("未开始 · 已暂停", "Not open yet · paused"), "sale") : chip(t("未开始", "Not open yet"), "accent");
    case "OPEN": return chip(t("进行中", "Open"), "good");
    case "PAUSED": return chip(t("已暂停", "Paused"), "sale");
    case "SOLD_OUT": return chip(t("已售罄", "Sold out"));
    case "ENDED": return chip(t("已结束", "Ended"));
    default: return chip(state);
  }
}

/** Statuses of persisted orders. */
export const ORDER_STATUSES = [1, 2, 3, 4, 5, 6];

/** @param {number} status of an order */
export function orderStatusText(status) {
  const names = [
    t("入库中", "Processing"), t("未支付", "Unpaid"), t("已支付", "Paid"), t("已核销", "Used"),
    t("已取消", "Cancelled"), t("退款中", "Refunding"), t("已退款", "Refunded"),
  ];
  return names[status] ?? String(status);
}

/** @param {number} status of an order */
export function orderStatusChip(status) {
  /** @type {("" | "sale" | "accent" | "good")[]} */
  const looks = ["", "sale", "accent", "good", "", "sale", ""];
  return chip(orderStatusText(status), looks[status] ?? "");
}

/** @param {number} status of a voucher */
export function listingStatusChip(status) {
  switch (status) {
    case 1: return chip(t("在架", "Listed"), "good");
    case 2: return chip(t("下架", "Unlisted"));
    default: return chip(t("已过期", "Expired"));
  }
}

/** @param {string} code refusal of a claim, as named in the metrics */
export function refusalText(code) {
  switch (code) {
    case "sold_out": return t("已抢光", "Sold out");
    case "already_bought": return t("已抢过", "Already bought");
    case "rate_limited": return t("太频繁", "Rate limited");
    case "not_logged_in": return t("未登录", "Not logged in");
    case "not_open": return t("未开始", "Not open yet");
    case "ended": return t("已结束", "Ended");
    case "paused": return t("已暂停", "Paused");
    case "unknown_sale": return t("没有这场秒杀", "No such sale");
    case "level_too_low": return t("等级不够", "Level too low");
    case "busy": return t("繁忙", "Busy");
    case "unavailable": return t("存储故障", "Storage unavailable");
    case "disk_full": return t("磁盘已满", "Disk full");
    case "clock_unsure": return t("时钟不可信", "Clock unsure");
    case "other": return t("其他", "Other");
    default: return code;
  }
}

/** @param {string} payment method */
export function paymentText(payment) {
  switch (payment) {
    case "none": return t("无需支付", "none");
    case "sandbox": return t("模拟支付（不收真钱）", "sandbox (no real money)");
    case "counter": return t("柜台收款", "at the counter");
    case "webhook": return t("支付网关", "payment gateway");
    default: return payment;
  }
}

/** @param {string} state of a payment at the gateway */
export function paymentStateText(state) {
  switch (state) {
    case "pending": return t("等待买家付款", "waiting for the buyer");
    case "declined": return t("支付未成功", "declined");
    case "reversed": return t("核销后被撤回（拒付）", "reversed after use (chargeback)");
    default: return state;
  }
}

/** @param {string} durability durability of confirmed claims */
export function durabilityText(durability) {
  switch (durability) {
    case "power": return t("断电不丢", "survives power loss");
    case "process": return t("进程崩溃不丢", "survives a process crash");
    case "memory": return t("只在内存", "in memory only");
    case "relaxed": return t("每200毫秒落盘", "flushed every 200 ms");
    default: return durability;
  }
}

/** @param {string} name of a dependency */
export function dependencyText(name) {
  switch (name) {
    case "disk": return t("磁盘", "Disk");
    case "order log": return t("订单日志", "Order log");
    case "clock": return t("时钟", "Clock");
    default: return name;
  }
}

/** @param {string} role of a user */
export function roleText(role) {
  return role === "operator" ? t("管理员", "Operator") : t("顾客", "Customer");
}
