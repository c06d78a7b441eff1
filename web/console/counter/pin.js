// The PIN pad of a counter.

import { idleMs, noteActivity } from "../../core/activity.js";
import { Refusal } from "../../core/api.js";
import { h, repeatWhileVisible } from "../../core/dom.js";
import { kioskHome } from "../../core/kiosk-home.js";
import { t } from "../../core/language.js";
import { button, whileBusy } from "../../parts/button.js";
import { field } from "../../parts/field.js";
import { icon } from "../../parts/icons.js";
import { keypad } from "../../parts/keypad.js";
import { languageSwitch } from "../../parts/language-switch.js";
import { logInByPin } from "./session.js";

/** Time without input after which the storefront comes back. */
const HOME_AFTER_MS = 60_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title }) {
  title(t("店员登录", "Staff log-in"));
  const home = kioskHome();
  const goHome = () => home && location.assign(home);
  const pin = field("PIN", "input", { type: "password", inputmode: "numeric", maxlength: 12, autocomplete: "off", required: true, enterkeyhint: "go" });
  pin.input.classList.add("pin");
  const enter = h("button", { type: "submit", class: "button main wide" }, t("登录", "Log in"));
  root.append(h("section", { class: "door stack counter-door" },
    h("h1", { class: "row" }, icon("shop"), t("柜台", "Counter")),
    h("form", { class: "stack", novalidate: true, onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      void whileBusy(enter, send);
    } }, pin.root, keypad(() => [pin.input], signal), enter),
    h("p", { class: "quiet small" }, t("忘了PIN请找管理员更换。", "An operator replaces a forgotten PIN.")),
    home && button(t("返回商城", "Back to the mall"), goHome, { look: ["wide"], icon: "shop" }),
    h("div", { class: "row small" }, languageSwitch())));
  pin.input.focus();
  // The person has just logged out, or has just come.
  noteActivity();
  repeatWhileVisible(1_000, signal, () => idleMs() >= HOME_AFTER_MS && goHome());

  async function send() {
    if (!/^\d{6,12}$/.test(pin.input.value)) return pin.wrong(t("请输入6到12位数字", "Enter 6 to 12 digits"));
    try {
      // Logging in reopens the screen.
      await logInByPin(pin.input.value);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      pin.input.value = "";
      pin.wrong(error.message);
    }
  }
}
