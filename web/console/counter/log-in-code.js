// A login code for a customer who gets no text message: staff read the code out.

import { call } from "../../core/api.js";
import { fill, h, repeatWhileVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { formatClock, momentAfter, msUntil } from "../../core/server-time.js";
import { button, whileBusy } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { phoneField } from "../../parts/phone-field.js";
import { heading } from "../pieces/heading.js";

/** @typedef {{code: string, validSeconds: number, isNew: boolean}} CounterCode response of `POST /staff/log-in-codes` */

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title }) {
  const name = t("登录码", "Login code");
  title(name);
  const phone = phoneField({ autocomplete: "off" });
  const place = h("div", { class: "stack", role: "status" });
  const submit = h("button", { type: "submit", class: "button main wide" }, t("生成登录码", "Make a code"));
  root.append(heading(name), h("form", { class: "card pad stack", novalidate: true, onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    whileBusy(submit, make);
  } },
    h("p", { class: "quiet" }, t("顾客收不到短信时，先确认手机号是顾客本人的，再生成登录码。", "For a customer who gets no text message. Make sure that the number is the customer's own.")),
    phone.root, submit), place);
  // The code of one customer must not be read out to the next.
  phone.input.addEventListener("input", () => fill(place));
  phone.input.focus();

  async function make() {
    const number = phone.validNumber();
    if (!number) return;
    fill(place);
    const made = await call("POST", "/staff/log-in-codes", { body: { phone: number } });
    /** @type {CounterCode} */
    const code = made.data;
    if (!signal.aborted) show(code, momentAfter(code.validSeconds * 1_000, made));
  }

  /**
   * @param {CounterCode} made
   * @param {import("../../core/server-time.js").Moment} expiry
   */
  function show({ code, isNew }, expiry) {
    const left = h("p", { class: "quiet" });
    fill(place, h("section", { class: "card pad sell-receipt", "aria-label": t("登录码", "Login code") },
      h("p", { class: "mono sell-code" }, code.replaceAll(/(\d{4})(?=\d)/g, "$1 ")),
      h("p", null, t("请顾客在登录页输入手机号和这12位数字。", "The customer enters the phone number and these 12 digits on the login page.")),
      isNew && h("p", { class: "row" }, icon("people"), t("这个手机号还没有账号，登录即注册。", "This number has no account yet; the login makes one.")),
      left, button(t("下一位", "Next customer"), next)));
    update();
    repeatWhileVisible(1_000, signal, update);

    function update() {
      const ms = msUntil(expiry);
      left.textContent = ms <= 0 ? t("已过期", "Expired") : t(`${formatClock(ms)} 内有效，只能用一次`, `Valid for ${formatClock(ms)}, once`);
    }
  }

  function next() {
    fill(place);
    phone.input.value = "";
    phone.input.focus();
  }
}
