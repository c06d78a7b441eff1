// The screen for customers: how to become an operator.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { reopen } from "../../core/router.js";
import { cachedMe, logOut } from "../../core/session.js";
import { button } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { languageSwitch } from "../../parts/language-switch.js";
import { clearFormDrafts } from "../pieces/form-draft.js";
import { resetAccess } from "../access.js";

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, title }) {
  title(t("仅限管理员", "Operators only"));
  root.append(h("section", { class: "door card stack" },
    icon("lock"),
    h("h1", null, t("这里只对管理员开放", "Operators only")),
    h("p", null, t(`${cachedMe()?.nickName ?? "您"}，这个账号是顾客。请在运行商城的服务器上执行：`,
      `${cachedMe()?.nickName ?? "You"}, this account is a customer account. To make it an operator, run on the server:`)),
    h("pre", { class: "command" }, `mallbox user grant ${t("手机号", "PHONE")}`),
    h("p", { class: "quiet small" }, t("填上您登录用的手机号。权限立即生效，不必重新登录。", "Use the phone number of your login. The role applies immediately; no new login is needed.")),
    h("div", { class: "row wrap" },
      button(t("已授权，再看一次", "Done, check again"), recheck, { look: ["main"] }),
      button(t("换个账号", "Switch account"), switchAccount)),
    h("div", null, languageSwitch())));

  function recheck() {
    resetAccess();
    reopen();
  }

  function switchAccount() {
    clearFormDrafts();
    return logOut();
  }
}
