// The screen for an operator of a mall that requires a second factor, before the operator has one.

import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { logOut } from "../../core/session.js";
import { button } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { languageSwitch } from "../../parts/language-switch.js";
import { clearFormDrafts } from "../pieces/form-draft.js";
import { setUpFactor } from "../pieces/second-factor.js";

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, title }) {
  title(t("设置两步验证", "Set up a second factor"));
  const place = h("div", { class: "stack" });
  fill(place, button(t("开始设置", "Set it up"), () => setUpFactor(place), { look: ["main"] }));
  root.append(h("section", { class: "door card stack" },
    h("h1", { class: "row" }, icon("shield"), t("设置两步验证", "Set up a second factor")),
    h("p", null, t("这座商城要求管理员使用两步验证：除了登录，还要输入手机应用显示的动态码。",
      "This mall requires a second factor of operators: besides the login, a code that an app on your phone shows.")), place,
    h("div", { class: "row wrap" }, button(t("换个账号", "Switch account"), switchAccount, { look: ["bare"] }), languageSwitch())));

  function switchAccount() {
    clearFormDrafts();
    return logOut();
  }
}
