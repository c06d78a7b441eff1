// The console's login screen. The requested screen opens after the login.

import { isDemo } from "../../core/demo.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { icon } from "../../parts/icons.js";
import { logInForm } from "../../parts/login-form.js";
import { languageSwitch } from "../../parts/language-switch.js";

/** Phone number of the demo's operator. */
const DEMO_OPERATOR = "13900000001";

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title }) {
  title(t("登录管理台", "Log in to the console"));
  const isInDemo = await isDemo();
  // Logging in reopens the screen.
  const form = logInForm({ done: () => {}, signal, phone: isInDemo ? DEMO_OPERATOR : "" });
  root.append(h("section", { class: "door stack" },
    h("h1", { class: "row" }, icon("shop"), t("商城管理台", "Mall console")),
    isInDemo && h("p", { class: "notice" }, t(`这是演示：管理员是 ${DEMO_OPERATOR}。先获取验证码，再填入收到的验证码。`,
      `This is a demo with the operator ${DEMO_OPERATOR}. Send the code, then fill in the received code.`)),
    form.root,
    h("p", { class: "quiet small" }, t("只有管理员能进入。", "For operators only.")),
    h("div", { class: "row small" }, languageSwitch(), h("a", { class: "link", href: "/mall/" }, t("去逛商城", "Go to the storefront")), h("a", { class: "link", href: "/mall/manual/" }, t("手册", "Manual")))));
  form.focus();
}
