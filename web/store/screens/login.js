// Logging in, and then to where one wanted to go.

import { hasToken } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { go } from "../../core/router.js";
import { head } from "../../parts/head.js";
import { logInForm } from "../../parts/login.js";

/** @param {import("../../core/router.js").Showing} showing */
export function open({ root, at, signal, title }) {
  title(both("登录", "Log in"));
  const then = at.then?.startsWith("/") ? at.then : "/";
  const leave = () => go(then, { replace: true });
  if (hasToken()) {
    leave();
    return;
  }
  const form = logInForm({ done: leave, signal });
  root.append(h("div", { class: "narrow stack" }, head(both("登录", "Log in")), form.root,
    h("p", { class: "quiet small" }, both("没有账号？用验证码登录，账号就有了。", "No account yet? Log in by a code, and you have one."))));
  form.focus();
}
