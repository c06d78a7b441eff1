// An order: how it stands, what can be done with it, and its receipt once it is paid.

import { Unreachable } from "../../core/api.js";
import { shown } from "../../core/copies.js";
import { fill, h, successive, whenSeenAgain } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { isSameMoment } from "../../core/moments.js";
import { head } from "../../parts/head.js";
import { button, linkButton } from "../../parts/button.js";
import { countdown } from "../../parts/countdown.js";
import { failure } from "../../parts/empty.js";
import { price, yuan } from "../../parts/price.js";
import { confirmed } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { say, tell } from "../../parts/toast.js";
import { whenText } from "../../parts/when.js";
import { statusChip } from "../cards/order.js";
import { staysIn } from "../entry.js";
import { STATUS, readOrder, take } from "../orders.js";
import { readReceipt, receiptCard } from "../receipt.js";

/** @typedef {import("../orders.js").Order} Order */

/** @typedef {"pay" | "cancel" | "refund"} Step */

/** How it stands after a step, or may by then. @type {Record<Step, number[]>} */
const LEADS_TO = { pay: [STATUS.paid, STATUS.used], cancel: [STATUS.cancelled], refund: [STATUS.refunding, STATUS.refunded] };
const AFTER_TROUBLE_MS = 2_000;
/** How soon it is looked at again, by how it stands: it may go on by itself, in the shop, or on another phone. */
const AGAIN_MS = { [STATUS.coming]: 500, [STATUS.unpaid]: 5_000, [STATUS.paid]: 5_000, [STATUS.refunding]: 2_000 };

/** @param {import("../../core/router.js").Showing} showing */
export async function open({ root, at, signal, title, settled }) {
  title(both("订单", "Order"));
  if (!staysIn(signal)) return;
  const [facts, beside] = [h("section", { class: "card pad stack", "aria-live": "polite", tabindex: -1 }, skeletons(4, "1.6rem")), h("div", null)];
  const columns = h("div", { class: "middle" }, beside, h("div", { class: "side" }, facts));
  root.append(head(both("订单", "Order"), { home: "/orders" }), columns);
  const ofDrawn = successive(signal);
  let drawn = "";
  /** @type {import("../../core/moments.js").Moment | undefined} */
  let due;
  let status = STATUS.coming;
  /** What was asked for without an answer, and how it stood then. @type {{step: Step, before: number, done: string} | null} */
  let unsure = null;
  /** How often it was asked for: an answer that was overtaken by another says nothing any more. */
  let asked = 0;
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  whenSeenAgain(signal, look);
  await shown(`order ${at.id}`, () => readOrder(at.id, signal), draw);
  settled();

  /** @param {Order} order */
  function draw(order) {
    clearTimeout(timer);
    status = order.status;
    const ms = AGAIN_MS[order.status];
    if (ms && !signal.aborted) timer = setTimeout(look, ms);
    const looks = `${order.status} ${order.deadline}`;
    if (looks === drawn && isSameMoment(due, order.due)) return;
    [drawn, due] = [looks, order.due];
    title(order.title);
    const whileDrawn = ofDrawn();
    const hadFocus = facts.contains(document.activeElement);
    fill(facts, h("div", { class: "row apart" }, h("h2", { class: "cut" }, order.title), statusChip(order.status)),
      h("div", { class: "row apart" }, standing(order, whileDrawn), price(order.payValue)),
      h("dl", { class: "facts small" }, times(order).map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))),
      h("div", { class: "stack order-acts" }, acts(order)));
    if (hadFocus) facts.focus({ preventScroll: true });
    showReceipt(order);
  }

  /**
   * What comes next, in words.
   * @param {Order} order
   * @param {AbortSignal} whileDrawn
   */
  function standing(order, whileDrawn) {
    switch (order.status) {
      case STATUS.coming: return h("p", null, both("正在写入订单，马上就好…", "It is being written down; a moment…"));
      case STATUS.unpaid: return order.due !== undefined && h("p", null, both("请在 ", "Pay within "), h("strong", { class: "order-due" }, countdown(order.due, whileDrawn, look)), both(" 内付款", ""));
      case STATUS.paid: return h("p", null, both("到店出示券码即可使用", "Show the code in the shop"));
      case STATUS.used: return h("p", null, both("谢谢惠顾", "Thank you"));
      case STATUS.refunding: return h("p", null, both("钱款正在退回…", "The money is on its way back…"));
      case STATUS.refunded: return h("p", null, order.payment === "none" ? both("订单已退", "It was given back") : both("钱款已退回", "The money is back"));
      default: return h("p", null, both("订单已取消，名额已放回", "Cancelled; the voucher went back on sale"));
    }
  }

  /** @param {Order} order */
  function acts(order) {
    const shop = order.shopId !== undefined && linkButton(both("去店铺看看", "To the shop"), `#/shop/${order.shopId}`, { look: ["wide"], icon: "shop" });
    if (order.status === STATUS.unpaid) {
      return [button(both(`支付 ${yuan(order.payValue)}`, `Pay ${yuan(order.payValue)}`), () => go("pay", both("已付款", "Paid")), { look: ["main", "wide"] }),
        button(both("取消订单", "Cancel the order"), cancel, { look: ["bare", "danger"] })];
    }
    if (order.status === STATUS.paid) return [shop, button(giveBackText(order), () => refund(order), { look: ["bare", "danger"] })];
    return [shop];
  }

  async function cancel() {
    const isSure = await confirmed(both("取消订单？", "Cancel the order?"), both("名额会放回去；想要得重新抢。", "The voucher goes back on sale; to have it, you would have to buy it again."),
      both("取消订单", "Cancel the order"), { no: both("保留订单", "Keep the order"), danger: true });
    if (isSure) await go("cancel", both("订单已取消", "The order is cancelled"));
  }

  /** @param {Order} order */
  async function refund(order) {
    const isFree = order.payment === "none";
    const what = isFree ? both("券码作废，名额重新开放。", "The code becomes void, and the voucher goes back on sale.") : both("券码作废，钱款原路退回。", "The code becomes void, and the money comes back.");
    const isSure = await confirmed(isFree ? both("退掉订单？", "Give it back?") : both("申请退款？", "Give it back?"), what, giveBackText(order), { danger: true });
    if (isSure) await go("refund", isFree ? both("订单已退", "It is given back") : both("已申请退款", "It is given back"));
  }

  /**
   * @param {Step} step
   * @param {string} done
   */
  async function go(step, done) {
    asked += 1;
    try {
      const order = await take(at.id, step);
      // What was asked for before it is older.
      asked += 1;
      draw(order);
      say(done);
    } catch (error) {
      // Whether it was taken is not known; taken twice it would do nothing more.
      if (error instanceof Unreachable) {
        unsure = { step, before: status, done };
        say(both("没有收到应答，正在查明结果…", "No answer came; finding out what became of it…"), { bad: true });
      } else tell(error);
      await look();
    }
  }

  async function look() {
    clearTimeout(timer);
    const mine = (asked += 1);
    try {
      const order = await readOrder(at.id, signal);
      if (mine !== asked) return;
      if (unsure) settle(unsure, order.status);
      unsure = null;
      draw(order);
    } catch {
      if (!signal.aborted && mine === asked) timer = setTimeout(look, AFTER_TROUBLE_MS);
    }
  }

  /**
   * What became of a step whose answer was lost.
   * @param {NonNullable<typeof unsure>} lost
   * @param {number} now
   */
  function settle({ step, before, done }, now) {
    if (LEADS_TO[step].includes(now)) say(done);
    else if (now === before) say(both("没有送到，请再试一次。", "It did not arrive; please try again."), { bad: true });
    else say(both("没有办成，订单已经变了。", "It was not done: the order has changed meanwhile."), { bad: true });
  }

  /** @param {Order} order */
  async function showReceipt(order) {
    const has = order.status === STATUS.paid || order.status === STATUS.used;
    columns.className = has ? "two" : "middle";
    if (!has) {
      fill(beside);
      return;
    }
    try {
      await shown(`receipt ${at.id} ${order.status}`, () => readReceipt(at.id, signal), (receipt) => fill(beside, receiptCard(receipt)));
    } catch (error) {
      if (!signal.aborted) fill(beside, failure(error, () => showReceipt(order)));
    }
  }
}

/** @param {Order} order */
function giveBackText({ payment }) {
  return payment === "none" ? both("退掉订单", "Give it back") : both("申请退款", "Give it back");
}

/**
 * @param {Order} order
 * @returns {[string, string][]}
 */
function times(order) {
  /** @type {[string, string | undefined][]} */
  const all = [[both("下单", "Ordered"), order.createTime], [both("付款", "Paid"), order.payTime], [both("使用", "Used"), order.useTime], [both("退款", "Refunded"), order.refundTime]];
  /** @type {[string, string][]} */
  const known = all.flatMap(([name, text]) => (text ? [[name, whenText(text)]] : []));
  return [...known, [both("订单号", "Number"), order.id]];
}
