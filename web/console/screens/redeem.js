// Redemption of vouchers by typed code, keyboard scanner or camera.

import { fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { formatYuan } from "../../parts/price.js";
import { errorMessage, showToast } from "../../parts/toast.js";
import { orderStatusChip } from "../labels.js";
import { timestamp } from "../pieces/timestamp.js";
import { heading } from "../pieces/heading.js";
import { orderFacts } from "../pieces/order-columns.js";
import { isRedemptionInDoubt, isUsed, findReceipt, redeem, toReceipt, usedText } from "../pieces/redemption.js";
import { CameraError, scanner, cameraUnavailableText } from "../pieces/scanner.js";
import { askPayment, isPayableAtCounter } from "../pieces/till.js";
import { onUnfocusedTyping } from "../pieces/unfocused-typing.js";

/** @typedef {import("../pieces/order-columns.js").Order} Order */

/** @type {Order[]} orders redeemed on this page, newest first */
const redeemed = [];
/** Maximum orders in the list. */
const MAX_HISTORY = 20;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title }) {
  title(t("核销", "Redeem"));
  const input = h("input", {
    class: "input redeem-code mono", id: "redeem-code", autocomplete: "off", autocapitalize: "characters", spellcheck: "false",
    inputmode: "text", enterkeyhint: "search", placeholder: t("凭证码", "Code"), value: params.code,
  });
  const find = h("button", { class: "button main", type: "submit" }, icon("search"), h("span", null, t("查看", "Look up")));
  const cameraProblem = cameraUnavailableText();
  const camera = h("div");
  const result = h("div", { role: "status" });
  const list = h("div");
  root.append(h("div", { class: "redeem stack" },
    heading(t("核销", "Redeem")),
    h("form", { class: "card pad stack", onsubmit: send },
      h("label", { for: "redeem-code" }, t("输入凭证码，或用扫码枪扫", "Enter or scan the code")),
      h("div", { class: "row" }, input, find),
      cameraProblem ? h("p", { class: "quiet small" }, cameraProblem) : button(t("用摄像头扫码", "Scan with the camera"), scan, { icon: "camera" }), camera),
    result, list));
  fill(list, redeemedList());
  input.focus();
  const nextSignal = signalSequence(signal);
  /** Incremented by every lookup; results of earlier lookups are shown as toasts. */
  let currentLookup = 0;
  // A scanner types wherever the focus is: the code starts the next lookup, and Enter must not press a
  // focused button.
  onUnfocusedTyping(signal, nextCustomer);
  input.addEventListener("input", startLookup);
  if (params.code) findByCode();

  /** @param {Event} event */
  function send(event) {
    event.preventDefault();
    findByCode();
  }

  /** Starts the next lookup and discards the previous one. */
  function startLookup() {
    currentLookup += 1;
    fill(result);
    find.removeAttribute("aria-busy");
    return nextSignal();
  }

  async function findByCode() {
    const code = input.value.trim();
    if (!code) return input.focus();
    const mine = startLookup();
    find.setAttribute("aria-busy", "true");
    // The next scan replaces the code.
    if (document.activeElement === input) input.select();
    try {
      const receipt = await findReceipt(code, mine);
      if (mine.aborted) return;
      if (receipt) show(code, receipt);
      else showError(t("没有这个编号的订单。", "No order has this number."));
    } catch (error) {
      if (mine.aborted) return;
      showError(errorMessage(error));
      input.select();
    } finally {
      if (!mine.aborted) find.removeAttribute("aria-busy");
    }
  }

  /**
   * @param {string} code
   * @param {import("../pieces/redemption.js").Receipt} receipt
   */
  function show(code, { order, usable, why }) {
    const notice = h("div", { class: "redeem-unsure" });
    const redeem = button(t("核销", "Redeem"), redeemAction(code, order, notice), { icon: "check", look: ["main"] });
    redeem.classList.add("redeem-now");
    const pay = isPayableAtCounter(order) && button(t("柜台收款", "Record a payment"), () => askPayment(order, (paid) => show(paid.id, toReceipt(paid))), { icon: "check", look: ["main"] });
    fill(result, h("section", { class: "card pad stack redeem-card" },
      h("div", { class: "row wrap" }, h("h2", { class: "grow" }, order.title), orderStatusChip(order.status)),
      h("p", { class: "redeem-price" }, formatYuan(order.payValue)),
      orderFacts(order), notice,
      usable ? h("div", { class: "buttons row" }, redeem, button(t("不核销", "Do not redeem"), nextCustomer))
        : h("p", { class: "notice bad" }, icon("warn"), why), pay));
    if (usable) redeem.focus();
    else if (pay) pay.focus();
    else input.select();
  }

  /**
   * Returns the action that redeems the order, repeatable while in doubt.
   * @param {string} code
   * @param {Order} order
   * @param {HTMLElement} notice place of the notice for an outcome in doubt
   */
  function redeemAction(code, order, notice) {
    const lookup = currentLookup;
    let isInDoubt = false;
    return async () => {
      fill(notice);
      try {
        const order = await redeem(code);
        // Paid when shown and in doubt since: the earlier attempt redeemed the order.
        if (!order.usedBefore) showRedeemed(order, false, lookup);
        else if (isInDoubt) showRedeemed(order, true, lookup);
        else showRefusal(usedText(order.useTime), lookup);
      } catch (error) {
        if (!isRedemptionInDoubt(error)) return showRefusal(errorMessage(error), lookup);
        isInDoubt = true;
        const now = await findReceipt(code, signal).then((receipt) => receipt?.order, () => undefined);
        if (now && isUsed(now)) showRedeemed(now, true, lookup);
        else showInDoubt(error, order, now !== undefined, notice, lookup);
      }
    };
  }

  /**
   * @param {Order} order
   * @param {boolean} wasInDoubt whether the response was lost
   * @param {number} lookup
   */
  function showRedeemed(order, wasInDoubt, lookup) {
    redeemed.unshift(order);
    redeemed.length = Math.min(redeemed.length, MAX_HISTORY);
    if (signal.aborted) return;
    fill(list, redeemedList());
    if (lookup !== currentLookup) return showToast(t(`已核销：${order.title}`, `Redeemed: ${order.title}`));
    fill(result, h("section", { class: "notice good redeem-done" }, icon("check"),
      h("div", null, h("h2", null, t("已核销", "Redeemed")), h("p", null, order.title, " · ", formatYuan(order.payValue)),
        wasInDoubt && h("p", null, t("没有收到响应，但核销已成功，时间是 ", "The response was lost, but the redemption succeeded at "), timestamp(order.useTime)))));
    clearInput();
  }

  /**
   * @param {string} why
   * @param {number} lookup
   */
  function showRefusal(why, lookup) {
    if (signal.aborted) return;
    if (lookup !== currentLookup) return showToast(why, { bad: true });
    showError(why);
    clearInput();
  }

  /**
   * @param {unknown} error
   * @param {Order} order
   * @param {boolean} isKnownUnused whether the order is known to be unused
   * @param {HTMLElement} notice
   * @param {number} lookup
   */
  function showInDoubt(error, order, isKnownUnused, notice, lookup) {
    if (signal.aborted) return;
    const text = [errorMessage(error), isKnownUnused
      ? t("尚未核销。可以再按一次，不会重复核销。", "Not redeemed yet. Press again; nothing is redeemed twice.")
      : t("核销结果未知。再按一次即可确认，不会重复核销。", "The result is unknown. Press again to check; nothing is redeemed twice.")].join(t("。", ". "));
    if (lookup !== currentLookup) return showToast(`${order.title}${t("：", ": ")}${text}`, { bad: true });
    fill(notice, h("p", { class: "notice bad" }, icon("warn"), text));
  }

  /** @param {string} why reason of the refusal */
  function showError(why) {
    fill(result, h("p", { class: "notice bad redeem-refused" }, icon("warn"), why));
  }

  function nextCustomer() {
    startLookup();
    clearInput();
  }

  function clearInput() {
    input.value = "";
    input.focus();
  }

  async function scan() {
    try {
      fill(camera, await scanner(signal, (code) => {
        input.value = code;
        findByCode();
      }, () => fill(camera)));
    } catch (error) {
      if (!(error instanceof CameraError)) throw error;
      fill(camera, h("p", { class: "notice bad" }, t("无法打开摄像头：未授权，或没有摄像头。", "The camera is unavailable: permission denied, or no camera found.")));
    }
  }
}

function redeemedList() {
  return redeemed.length > 0 && h("section", { class: "card pad stack" }, h("h2", null, t("刚核销的", "Recently redeemed")),
    h("ul", { class: "stack tight" }, redeemed.map((order) => h("li", { class: "row wrap" },
      h("span", { class: "quiet" }, timestamp(order.useTime)), h("span", { class: "redeem-title" }, order.title),
      h("a", { class: "link mono", href: `#/order/${order.id}` }, order.id)))));
}
