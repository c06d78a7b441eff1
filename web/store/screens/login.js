// The login screen, which leads to the address requested before.

import { hasToken } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { go } from "../../core/router.js";
import { screenHeader } from "../../parts/screen-header.js";
import { logInForm } from "../../parts/login-form.js";

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title }) {
  title(t("登录", "Log in"));
  const then = params.then?.startsWith("/") ? params.then : "/";
  const leave = () => go(then, { replace: true });
  if (hasToken()) {
    leave();
    return;
  }
  const form = logInForm({ done: leave, signal });
  root.append(h("div", { class: "narrow stack" }, screenHeader(t("登录", "Log in")), form.root,
    h("p", { class: "quiet small" }, t("没有账号？用验证码登录即可自动注册。", "No account yet? Log in with a code to create one."))));
  form.focus();
}
