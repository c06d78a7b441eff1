// An order: how it stands, what can be done with it, and its receipt once it is paid.

import { Unreachable } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/copies.js";
import { fill, h, signalSequence, onVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { isSameMoment } from "../../core/moments.js";
import { screenHeader } from "../../parts/screen-header.js";
import { button, linkButton } from "../../parts/button.js";
import { countdown } from "../../parts/countdown.js";
import { errorState } from "../../parts/empty-state.js";
import { price, formatYuan } from "../../parts/price.js";
import { confirmAction } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast, showError } from "../../parts/toast.js";
import { formatDateTime } from "../../parts/date-time.js";
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

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  title(t("订单", "Order"));
  if (!staysIn(signal)) return;
  const [facts, beside] = [h("section", { class: "card pad stack", "aria-live": "polite", tabindex: -1 }, skeletons(4, "1.6rem")), h("div", null)];
  const columns = h("div", { class: "middle" }, beside, h("div", { class: "side" }, facts));
  root.append(screenHeader(t("订单", "Order"), { home: "/orders" }), columns);
  const ofDrawn = signalSequence(signal);
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
  onVisible(signal, look);
  await staleWhileRevalidate(`order ${params.id}`, () => readOrder(params.id, signal), draw);
  restoreScroll();

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
      case STATUS.coming: return h("p", null, t("正在写入订单，马上就好…", "It is being written down; a moment…"));
      case STATUS.unpaid: return order.due !== undefined && h("p", null, t("请在 ", "Pay within "), h("strong", { class: "order-due" }, countdown(order.due, whileDrawn, look)), t(" 内付款", ""));
      case STATUS.paid: return h("p", null, t("到店出示券码即可使用", "Show the code in the shop"));
      case STATUS.used: return h("p", null, t("谢谢惠顾", "Thank you"));
      case STATUS.refunding: return h("p", null, t("钱款正在退回…", "The money is on its way back…"));
      case STATUS.refunded: return h("p", null, order.payment === "none" ? t("订单已退", "It was given back") : t("钱款已退回", "The money is back"));
      default: return h("p", null, t("订单已取消，名额已放回", "Cancelled; the voucher went back on sale"));
    }
  }

  /** @param {Order} order */
  function acts(order) {
    const shop = order.shopId !== undefined && linkButton(t("去店铺看看", "To the shop"), `#/shop/${order.shopId}`, { look: ["wide"], icon: "shop" });
    if (order.status === STATUS.unpaid) {
      return [button(t(`支付 ${formatYuan(order.payValue)}`, `Pay ${formatYuan(order.payValue)}`), () => go("pay", t("已付款", "Paid")), { look: ["main", "wide"] }),
        button(t("取消订单", "Cancel the order"), cancel, { look: ["bare", "danger"] })];
    }
    if (order.status === STATUS.paid) return [shop, button(giveBackText(order), () => refund(order), { look: ["bare", "danger"] })];
    return [shop];
  }

  async function cancel() {
    const isSure = await confirmAction(t("取消订单？", "Cancel the order?"), t("名额会放回去；想要得重新抢。", "The voucher goes back on sale; to have it, you would have to buy it again."),
      t("取消订单", "Cancel the order"), { no: t("保留订单", "Keep the order"), danger: true });
    if (isSure) await go("cancel", t("订单已取消", "The order is cancelled"));
  }

  /** @param {Order} order */
  async function refund(order) {
    const isFree = order.payment === "none";
    const what = isFree ? t("券码作废，名额重新开放。", "The code becomes void, and the voucher goes back on sale.") : t("券码作废，钱款原路退回。", "The code becomes void, and the money comes back.");
    const isSure = await confirmAction(isFree ? t("退掉订单？", "Give it back?") : t("申请退款？", "Give it back?"), what, giveBackText(order), { danger: true });
    if (isSure) await go("refund", isFree ? t("订单已退", "It is given back") : t("已申请退款", "It is given back"));
  }

  /**
   * @param {Step} step
   * @param {string} done
   */
  async function go(step, done) {
    asked += 1;
    try {
      const order = await take(params.id, step);
      // What was asked for before it is older.
      asked += 1;
      draw(order);
      showToast(done);
    } catch (error) {
      // Whether it was taken is not known; taken twice it would do nothing more.
      if (error instanceof Unreachable) {
        unsure = { step, before: status, done };
        showToast(t("没有收到应答，正在查明结果…", "No answer came; finding out what became of it…"), { bad: true });
      } else showError(error);
      await look();
    }
  }

  async function look() {
    clearTimeout(timer);
    const mine = (asked += 1);
    try {
      const order = await readOrder(params.id, signal);
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
    if (LEADS_TO[step].includes(now)) showToast(done);
    else if (now === before) showToast(t("没有送到，请再试一次。", "It did not arrive; please try again."), { bad: true });
    else showToast(t("没有办成，订单已经变了。", "It was not done: the order has changed meanwhile."), { bad: true });
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
      await staleWhileRevalidate(`receipt ${params.id} ${order.status}`, () => readReceipt(params.id, signal), (receipt) => fill(beside, receiptCard(receipt)));
    } catch (error) {
      if (!signal.aborted) fill(beside, errorState(error, () => showReceipt(order)));
    }
  }
}

/** @param {Order} order */
function giveBackText({ payment }) {
  return payment === "none" ? t("退掉订单", "Give it back") : t("申请退款", "Give it back");
}

/**
 * @param {Order} order
 * @returns {[string, string][]}
 */
function times(order) {
  /** @type {[string, string | undefined][]} */
  const all = [[t("下单", "Ordered"), order.createTime], [t("付款", "Paid"), order.payTime], [t("使用", "Used"), order.useTime], [t("退款", "Refunded"), order.refundTime]];
  /** @type {[string, string][]} */
  const known = all.flatMap(([name, text]) => (text ? [[name, formatDateTime(text)]] : []));
  return [...known, [t("订单号", "Number"), order.id]];
}
