// An order: status, actions and receipt.

import { Unreachable } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h, signalSequence, onVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { isKiosk } from "../../core/local-storage.js";
import { isSameMoment } from "../../core/server-time.js";
import { screenHeader } from "../../parts/screen-header.js";
import { button, linkButton } from "../../parts/button.js";
import { countdown } from "../../parts/countdown.js";
import { errorState } from "../../parts/empty-state.js";
import { price, formatYuan } from "../../parts/price.js";
import { qrCode } from "../../parts/qr-code.js";
import { confirmAction } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast, showError } from "../../parts/toast.js";
import { formatDateTime } from "../../parts/date-time.js";
import { statusChip } from "../cards/order.js";
import { requireLoginThroughout } from "../login-guard.js";
import { STATUS, readOrder, changeOrder, isPaidAtCounter } from "../orders.js";
import { readReceipt, receiptCard } from "../receipt.js";
import { reviewsOfOrders } from "../reviews/post.js";

/** @typedef {import("../orders.js").Order} Order */

/** @typedef {"pay" | "cancel" | "refund"} Step */

/**
 * Statuses that each step leads to, directly or later.
 * @type {Record<Step, number[]>}
 */
const EXPECTED_STATUS = { pay: [STATUS.paid, STATUS.used], cancel: [STATUS.cancelled], refund: [STATUS.refunding, STATUS.refunded] };
const RETRY_AFTER_ERROR_MS = 2_000;
/** Poll interval by status: an order also changes on its own, in the shop, or on another device. */
const POLL_EVERY_MS = { [STATUS.coming]: 500, [STATUS.unpaid]: 5_000, [STATUS.paid]: 5_000, [STATUS.refunding]: 2_000 };
/** Poll interval while the buyer pays at the gateway. */
const POLL_PAYMENT_MS = 2_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  title(t("订单", "Order"));
  if (!requireLoginThroughout(signal)) return;
  const [facts, beside] = [h("section", { class: "card pad stack", "aria-live": "polite", tabindex: -1 }, skeletons(4, "1.6rem")), h("div", null)];
  const columns = h("div", { class: "middle" }, beside, h("div", { class: "side" }, facts));
  root.append(screenHeader(t("订单", "Order"), { home: "/orders" }), columns);
  const review = h("div", null);
  const nextSignal = signalSequence(signal);
  let renderedState = "";
  /** @type {import("../../core/server-time.js").Moment | undefined} */
  let due;
  let status = STATUS.coming;
  /**
   * The step in doubt, with the status before.
   * @type {{step: Step, before: number, done: string} | null}
   */
  let inDoubt = null;
  /**
   * Where to pay at the gateway, once the gateway has said so; orders read later do not have the address.
   * @type {Pick<Order, "payUrl" | "payQr"> | null}
   */
  let payPage = null;
  /** Number of requests; responses overtaken by a later request are discarded. */
  let requestCount = 0;
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  onVisible(signal, refresh);
  await staleWhileRevalidate(`order ${params.id}`, () => readOrder(params.id, signal), render);
  restoreScroll();

  /** @param {Order} order */
  function render(order) {
    clearTimeout(timer);
    status = order.status;
    const isPending = order.paymentState === "pending";
    if (order.payUrl) payPage = order;
    else if (!isPending) payPage = null;
    const ms = isPending ? POLL_PAYMENT_MS : POLL_EVERY_MS[order.status];
    if (ms && !signal.aborted) timer = setTimeout(refresh, ms);
    const nextState = `${order.status} ${order.deadline} ${order.paymentState} ${payPage?.payUrl}`;
    if (nextState === renderedState && isSameMoment(due, order.due)) return;
    [renderedState, due] = [nextState, order.due];
    title(order.title);
    const renderSignal = nextSignal();
    const hadFocus = facts.contains(document.activeElement);
    fill(facts, h("div", { class: "row apart" }, h("h2", { class: "cut" }, order.title), statusChip(order.status)),
      h("div", { class: "row apart" }, statusText(order, renderSignal), price(order.payValue)),
      paymentNotice(order),
      h("dl", { class: "facts small" }, times(order).map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))),
      h("div", { class: "stack order-acts" }, review, actionButtons(order)));
    if (hadFocus) facts.focus({ preventScroll: true });
    showReceipt(order);
    showReviewLink(order);
  }

  /**
   * Describes the status and the next step.
   * @param {Order} order
   * @param {AbortSignal} renderSignal
   */
  function statusText(order, renderSignal) {
    switch (order.status) {
      case STATUS.coming: return h("p", null, t("正在写入订单，马上就好…", "Processing your order…"));
      case STATUS.unpaid: return order.due !== undefined && h("p", null, t("请在 ", "Pay within "), h("strong", { class: "order-due" }, countdown(order.due, renderSignal, refresh)), isPaidAtCounter(order) ? t(" 内到柜台付款，并出示订单号", " at the counter; show the order number there") : t(" 内付款", ""));
      case STATUS.paid: return h("p", null, t("到店出示券码即可使用", "Show the code in the shop"));
      case STATUS.used: return h("p", null, t("谢谢惠顾", "Thank you"));
      case STATUS.refunding: return h("p", null, t("钱款正在退回…", "Your refund is being processed…"));
      case STATUS.refunded: return h("p", null, order.payment === "none" ? t("订单已退", "Order returned") : t("钱款已退回", "Refund completed"));
      default: return h("p", null, t("订单已取消，名额已放回", "Order cancelled; the voucher is back on sale"));
    }
  }

  /**
   * Describes the payment at the gateway.
   * @param {Order} order
   */
  function paymentNotice(order) {
    if (order.status !== STATUS.unpaid) return false;
    if (order.paymentState === "declined") return h("p", { class: "notice bad" }, t("支付未成功，没有扣款。可以再试一次。", "The payment did not go through, and nothing was charged. You can try again."));
    if (order.paymentState !== "pending") return false;
    return h("div", { class: "stack" },
      payPage?.payQr && h("div", { class: "receipt-code" }, qrCode(payPage.payQr, t("付款二维码", "QR code for the payment")),
        h("p", { class: "small quiet" }, t("用手机扫码付款", "Scan with your phone to pay"))),
      h("p", { role: "status" }, t("等待付款结果…", "Waiting for the payment…")));
  }

  /** @param {Order} order */
  function actionButtons(order) {
    const shop = order.shopId !== undefined && linkButton(t("去店铺看看", "View shop"), `#/shop/${order.shopId}`, { look: ["wide"], icon: "shop" });
    if (order.status === STATUS.unpaid) {
      if (isPaidAtCounter(order)) {
        return [h("p", { class: "receipt-text" }, h("span", { class: "unseen" }, t("订单号 ", "Order number ")), order.id), shop,
          button(t("取消订单", "Cancel the order"), cancel, { look: ["bare", "danger"] })];
      }
      const isPending = order.paymentState === "pending";
      const pay = isPending ? t("继续付款", "Continue to pay") : t(`支付 ${formatYuan(order.payValue)}`, `Pay ${formatYuan(order.payValue)}`);
      return [button(pay, () => runStep("pay", t("已付款", "Paid")), { look: ["main", "wide"] }),
        button(t("取消订单", "Cancel the order"), cancel, { look: ["bare", "danger"] })];
    }
    if (order.status === STATUS.paid && isPaidAtCounter(order)) return [shop, h("p", { class: "small quiet" }, t("如需退款，请到柜台办理。", "For a refund, come to the counter."))];
    if (order.status === STATUS.paid) return [shop, button(refundText(order), () => refund(order), { look: ["bare", "danger"] })];
    return [shop];
  }

  async function cancel() {
    const isConfirmed = await confirmAction(t("取消订单？", "Cancel the order?"), t("名额将释放，需要重新抢购。", "The voucher goes back on sale. To get one, you would have to buy again."),
      t("取消订单", "Cancel the order"), { no: t("保留订单", "Keep the order"), danger: true });
    if (isConfirmed) await runStep("cancel", t("订单已取消", "Order cancelled"));
  }

  /** @param {Order} order */
  async function refund(order) {
    const isFree = order.payment === "none";
    const consequence = isFree ? t("券码作废，名额重新开放。", "The code becomes invalid, and the voucher goes back on sale.") : t("券码作废，钱款原路退回。", "The code becomes invalid, and you get a refund.");
    const isConfirmed = await confirmAction(isFree ? t("退掉订单？", "Return the order?") : t("申请退款？", "Request a refund?"), consequence, refundText(order), { danger: true });
    if (isConfirmed) await runStep("refund", isFree ? t("订单已退", "Order returned") : t("已申请退款", "Refund requested"));
  }

  /**
   * @param {Step} step
   * @param {string} done
   */
  async function runStep(step, done) {
    requestCount += 1;
    try {
      const order = await changeOrder(params.id, step);
      // Discards responses to earlier requests.
      requestCount += 1;
      render(order);
      if (step === "pay" && order.status === STATUS.unpaid) openPayPage(order);
      else showToast(done);
    } catch (error) {
      // In doubt; repeating a completed step changes nothing.
      if (error instanceof Unreachable) {
        inDoubt = { step, before: status, done };
        showToast(t("没有收到响应，正在查询结果…", "No response. Checking the result…"), { bad: true });
      } else showError(error);
      await refresh();
    }
  }

  async function refresh() {
    clearTimeout(timer);
    const requestNumber = (requestCount += 1);
    try {
      const order = await readOrder(params.id, signal);
      if (requestNumber !== requestCount) return;
      // A payment that waits for its buyer has arrived; the screen shows how to go on.
      if (inDoubt && order.paymentState !== "pending") reportOutcome(inDoubt, order.status);
      inDoubt = null;
      render(order);
    } catch {
      if (!signal.aborted && requestNumber === requestCount) timer = setTimeout(refresh, RETRY_AFTER_ERROR_MS);
    }
  }

  /**
   * Reports the outcome of a step in doubt.
   * @param {NonNullable<typeof inDoubt>} lost
   * @param {number} now
   */
  function reportOutcome({ step, before, done }, now) {
    if (EXPECTED_STATUS[step].includes(now)) showToast(done);
    else if (now === before) showToast(t("请求没有送达，请再试一次。", "The request did not arrive. Try again."), { bad: true });
    else showToast(t("操作未完成，订单状态已经变化。", "Not done: the order has changed."), { bad: true });
  }

  /**
   * A used order can be reviewed once; a reviewed one leads to its review.
   * @param {Order} order
   */
  async function showReviewLink(order) {
    if (order.status !== STATUS.used || isKiosk) return;
    await staleWhileRevalidate(`review of ${params.id}`, () => reviewsOfOrders([params.id], signal), ([found]) => fill(review, !found
      ? linkButton(t("写评价", "Write a review"), `#/review?order=${params.id}`, { look: ["main", "wide"], icon: "star" })
      : found.deleted ? h("p", { class: "quiet small" }, t("评价已删除", "You deleted your review"))
        : linkButton(t("查看评价", "See your review"), `#/review/${found.remarkId}`, { look: ["wide"], icon: "star" }))).catch(() => {});
  }

  /** @param {Order} order */
  async function showReceipt(order) {
    const hasReceipt = order.status === STATUS.paid || order.status === STATUS.used;
    columns.className = hasReceipt ? "two" : "middle";
    if (!hasReceipt) {
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

/**
 * Leaves for the gateway's page, which leads back to the order. A kiosk stays and shows the QR code, and so does
 * every browser for the address of a wallet.
 * @param {Order} order
 */
function openPayPage({ payUrl }) {
  if (payUrl && !isKiosk && /^https?:\/\//.test(payUrl)) location.assign(payUrl);
}

/** @param {Order} order */
function refundText({ payment }) {
  return payment === "none" ? t("退掉订单", "Return order") : t("申请退款", "Request refund");
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
  return [...known, [t("订单号", "Order number"), order.id]];
}
