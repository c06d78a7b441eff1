// Redeems what somebody bought: a code is typed, or read by a scanner that types, or by the camera. Then the next.

import { fill, h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { busy, button } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { yuan } from "../../parts/price.js";
import { reason } from "../../parts/toast.js";
import { orderStatus } from "../names.js";
import { exactly } from "../pieces/exactly.js";
import { heading } from "../pieces/heading.js";
import { orderFacts } from "../pieces/order-columns.js";
import { lookUp, use, usedText } from "../pieces/redemption.js";
import { NoCamera, scanner, whyNoCamera } from "../pieces/scanner.js";

/** @typedef {import("../pieces/order-columns.js").Order} Order */

/** @type {Order[]} what was redeemed here, the last first */
const done = [];
/** As many as one looks back at. */
const MOST = 20;

/** @param {import("../../core/router.js").Showing} showing */
export function open({ root, at, signal, title }) {
  title(both("核销", "Redeem"));
  const input = h("input", {
    class: "input redeem-code mono", id: "redeem-code", autocomplete: "off", autocapitalize: "characters", spellcheck: "false",
    inputmode: "text", enterkeyhint: "search", placeholder: both("凭证码", "Code"), value: at.code,
  });
  const find = h("button", { class: "button main", type: "submit" }, icon("search"), h("span", null, both("查看", "Look it up")));
  const noCamera = whyNoCamera();
  const lens = h("div");
  const result = h("div", { role: "status" });
  const list = h("div");
  root.append(h("div", { class: "redeem stack" },
    heading(both("核销", "Redeem")),
    h("form", { class: "card pad stack", onsubmit: send },
      h("label", { for: "redeem-code" }, both("输入凭证码，或用扫码枪扫", "Type the code, or scan it")),
      h("div", { class: "row" }, input, find),
      noCamera ? h("p", { class: "quiet small" }, noCamera) : button(both("用摄像头扫码", "Scan with the camera"), scan, { icon: "camera" }), lens),
    result, list));
  fill(list, doneList());
  input.focus();
  if (at.code) busy(find, look);

  /** @param {Event} event */
  function send(event) {
    event.preventDefault();
    busy(find, look);
  }

  async function look() {
    const code = input.value.trim();
    if (!code) return input.focus();
    fill(result);
    try {
      const receipt = await lookUp(code, signal);
      if (signal.aborted) return;
      if (receipt) show(code, receipt);
      else refuse(both("没有这个编号的订单。", "No order has that number."));
    } catch (error) {
      if (signal.aborted) return;
      refuse(reason(error));
      // What is scanned next takes its place.
      input.select();
    }
  }

  /**
   * @param {string} code
   * @param {import("../pieces/redemption.js").Receipt} receipt
   */
  function show(code, { order, usable, why }) {
    const redeem = button(both("核销", "Redeem"), () => redeemed(code), { icon: "check", look: ["main"] });
    redeem.classList.add("redeem-now");
    fill(result, h("section", { class: "card pad stack redeem-card" },
      h("div", { class: "row wrap" }, h("h2", { class: "grow" }, order.title), orderStatus(order.status)),
      h("p", { class: "redeem-price" }, yuan(order.payValue)),
      orderFacts(order),
      usable ? h("div", { class: "buttons row" }, redeem, button(both("不核销", "Leave it"), next))
        : h("p", { class: "notice bad" }, icon("warn"), why)));
    if (usable) redeem.focus();
    else input.select();
  }

  /** @param {string} code */
  async function redeemed(code) {
    try {
      const order = await use(code);
      if (order.usedBefore) return refuse(usedText(order.useTime));
      done.unshift(order);
      done.length = Math.min(done.length, MOST);
      if (signal.aborted) return;
      fill(result, h("section", { class: "notice good redeem-done" }, icon("check"),
        h("div", null, h("h2", null, both("已核销", "Redeemed")), h("p", null, order.title, " · ", yuan(order.payValue)))));
      fill(list, doneList());
    } catch (error) {
      if (!signal.aborted) refuse(reason(error));
    } finally {
      input.value = "";
      input.focus();
    }
  }

  /** @param {string} why it is not redeemed */
  function refuse(why) {
    fill(result, h("p", { class: "notice bad redeem-refused" }, icon("warn"), why));
  }

  function next() {
    fill(result);
    input.value = "";
    input.focus();
  }

  async function scan() {
    try {
      fill(lens, await scanner(signal, (code) => {
        input.value = code;
        busy(find, look);
      }, () => fill(lens)));
    } catch (error) {
      if (!(error instanceof NoCamera)) throw error;
      fill(lens, h("p", { class: "notice bad" }, both("摄像头打不开：没有允许，或没有摄像头。", "The camera does not open: it was refused, or there is none.")));
    }
  }
}

function doneList() {
  return done.length > 0 && h("section", { class: "card pad stack" }, h("h2", null, both("刚核销的", "Redeemed just now")),
    h("ul", { class: "stack tight" }, done.map((order) => h("li", { class: "row wrap" },
      h("span", { class: "quiet" }, exactly(order.useTime)), h("span", { class: "redeem-title" }, order.title),
      h("a", { class: "link mono", href: `#/order/${order.id}` }, order.id)))));
}
