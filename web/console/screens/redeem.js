// Redeems what somebody bought: a code is typed, or read by a scanner that types, or by the camera. Then the next.

import { fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { formatYuan } from "../../parts/price.js";
import { errorMessage, showToast } from "../../parts/toast.js";
import { orderStatus } from "../names.js";
import { exactly } from "../pieces/exactly.js";
import { heading } from "../pieces/heading.js";
import { orderFacts } from "../pieces/order-columns.js";
import { isUnsure, isUsed, lookUp, use, usedText } from "../pieces/redemption.js";
import { NoCamera, scanner, whyNoCamera } from "../pieces/scanner.js";
import { onStrayTyping } from "../pieces/stray-typing.js";

/** @typedef {import("../pieces/order-columns.js").Order} Order */

/** @type {Order[]} what was redeemed here, the last first */
const done = [];
/** As many as one looks back at. */
const MOST = 20;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title }) {
  title(t("核销", "Redeem"));
  const input = h("input", {
    class: "input redeem-code mono", id: "redeem-code", autocomplete: "off", autocapitalize: "characters", spellcheck: "false",
    inputmode: "text", enterkeyhint: "search", placeholder: t("凭证码", "Code"), value: params.code,
  });
  const find = h("button", { class: "button main", type: "submit" }, icon("search"), h("span", null, t("查看", "Look it up")));
  const noCamera = whyNoCamera();
  const lens = h("div");
  const result = h("div", { role: "status" });
  const list = h("div");
  root.append(h("div", { class: "redeem stack" },
    heading(t("核销", "Redeem")),
    h("form", { class: "card pad stack", onsubmit: send },
      h("label", { for: "redeem-code" }, t("输入凭证码，或用扫码枪扫", "Type the code, or scan it")),
      h("div", { class: "row" }, input, find),
      noCamera ? h("p", { class: "quiet small" }, noCamera) : button(t("用摄像头扫码", "Scan with the camera"), scan, { icon: "camera" }), lens),
    result, list));
  fill(list, doneList());
  input.focus();
  const looking = signalSequence(signal);
  /** What is on the counter: another code begins the next. */
  let customer = 0;
  // A scanner types wherever the focus is. Its code is the next one, and its Enter is not meant for what is shown.
  onStrayTyping(signal, next);
  input.addEventListener("input", begin);
  if (params.code) look();

  /** @param {Event} event */
  function send(event) {
    event.preventDefault();
    look();
  }

  /** Another code: what comes of the one before is of no use any more, and keeps nobody waiting. */
  function begin() {
    customer += 1;
    fill(result);
    find.removeAttribute("aria-busy");
    return looking();
  }

  async function look() {
    const code = input.value.trim();
    if (!code) return input.focus();
    const mine = begin();
    find.setAttribute("aria-busy", "true");
    // What is scanned next takes its place.
    if (document.activeElement === input) input.select();
    try {
      const receipt = await lookUp(code, mine);
      if (mine.aborted) return;
      if (receipt) show(code, receipt);
      else refuse(t("没有这个编号的订单。", "No order has that number."));
    } catch (error) {
      if (mine.aborted) return;
      refuse(errorMessage(error));
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
    const said = h("div", { class: "redeem-unsure" });
    const redeem = button(t("核销", "Redeem"), redeeming(code, order, said), { icon: "check", look: ["main"] });
    redeem.classList.add("redeem-now");
    fill(result, h("section", { class: "card pad stack redeem-card" },
      h("div", { class: "row wrap" }, h("h2", { class: "grow" }, order.title), orderStatus(order.status)),
      h("p", { class: "redeem-price" }, formatYuan(order.payValue)),
      orderFacts(order), said,
      usable ? h("div", { class: "buttons row" }, redeem, button(t("不核销", "Leave it"), next))
        : h("p", { class: "notice bad" }, icon("warn"), why)));
    if (usable) redeem.focus();
    else input.select();
  }

  /**
   * Redeems what is shown; again, if it was not certain what became of it.
   * @param {string} code
   * @param {Order} shown
   * @param {HTMLElement} said where it is told that it is not certain
   */
  function redeeming(code, shown, said) {
    const mine = customer;
    let isLost = false;
    return async () => {
      fill(said);
      try {
        const order = await use(code);
        // It was paid when it was shown: what used it before is the press whose answer was lost.
        if (!order.usedBefore) redeemed(order, false, mine);
        else if (isLost) redeemed(order, true, mine);
        else refused(usedText(order.useTime), mine);
      } catch (error) {
        if (!isUnsure(error)) return refused(errorMessage(error), mine);
        isLost = true;
        const now = await lookUp(code, signal).then((receipt) => receipt?.order, () => undefined);
        if (now && isUsed(now)) redeemed(now, true, mine);
        else unsure(error, shown, now !== undefined, said, mine);
      }
    };
  }

  /**
   * @param {Order} order
   * @param {boolean} wasLost whether the answer to it was lost
   * @param {number} whose
   */
  function redeemed(order, wasLost, whose) {
    done.unshift(order);
    done.length = Math.min(done.length, MOST);
    if (signal.aborted) return;
    fill(list, doneList());
    if (whose !== customer) return showToast(t(`已核销：${order.title}`, `Redeemed: ${order.title}`));
    fill(result, h("section", { class: "notice good redeem-done" }, icon("check"),
      h("div", null, h("h2", null, t("已核销", "Redeemed")), h("p", null, order.title, " · ", formatYuan(order.payValue)),
        wasLost && h("p", null, t("回答在路上丢了，但核销成功了，时间是 ", "The answer to it was lost, but it counts, at "), exactly(order.useTime)))));
    toNext();
  }

  /**
   * @param {string} why
   * @param {number} whose
   */
  function refused(why, whose) {
    if (signal.aborted) return;
    if (whose !== customer) return showToast(why, { bad: true });
    refuse(why);
    toNext();
  }

  /**
   * @param {unknown} error
   * @param {Order} order
   * @param {boolean} isKnown whether it was seen that it is not used
   * @param {HTMLElement} said
   * @param {number} whose
   */
  function unsure(error, order, isKnown, said, whose) {
    if (signal.aborted) return;
    const text = [errorMessage(error), isKnown
      ? t("还没有核销。可以再按一次，不会核销两次。", "It is not redeemed yet. Press again; that never redeems it twice.")
      : t("不知道核销了没有。再按一次就知道，不会核销两次。", "It is not known whether it is redeemed. Press again to find out; that never redeems it twice.")].join(t("。", ". "));
    if (whose !== customer) return showToast(`${order.title}${t("：", ": ")}${text}`, { bad: true });
    fill(said, h("p", { class: "notice bad" }, icon("warn"), text));
  }

  /** @param {string} why it is not redeemed */
  function refuse(why) {
    fill(result, h("p", { class: "notice bad redeem-refused" }, icon("warn"), why));
  }

  function next() {
    begin();
    toNext();
  }

  function toNext() {
    input.value = "";
    input.focus();
  }

  async function scan() {
    try {
      fill(lens, await scanner(signal, (code) => {
        input.value = code;
        look();
      }, () => fill(lens)));
    } catch (error) {
      if (!(error instanceof NoCamera)) throw error;
      fill(lens, h("p", { class: "notice bad" }, t("摄像头打不开：没有允许，或没有摄像头。", "The camera does not open: it was refused, or there is none.")));
    }
  }
}

function doneList() {
  return done.length > 0 && h("section", { class: "card pad stack" }, h("h2", null, t("刚核销的", "Redeemed just now")),
    h("ul", { class: "stack tight" }, done.map((order) => h("li", { class: "row wrap" },
      h("span", { class: "quiet" }, exactly(order.useTime)), h("span", { class: "redeem-title" }, order.title),
      h("a", { class: "link mono", href: `#/order/${order.id}` }, order.id)))));
}
