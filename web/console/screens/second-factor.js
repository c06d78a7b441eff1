// The screen for an operator who has logged in and has to give the second factor.

import { call, setToken } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { logOut } from "../../core/session.js";
import { button } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { languageSwitch } from "../../parts/language-switch.js";
import { showToast } from "../../parts/toast.js";
import { clearFormDrafts } from "../pieces/form-draft.js";
import { form } from "../pieces/form.js";
import { appCodeField, codeFormField, recoveryCodeField } from "../pieces/second-factor.js";

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, title }) {
  title(t("两步验证", "Second factor"));
  const place = h("div", { class: "stack" });
  root.append(h("section", { class: "door card stack" },
    h("h1", { class: "row" }, icon("shield"), t("两步验证", "Second factor")), place,
    h("div", { class: "row wrap" }, button(t("换个账号", "Switch account"), switchAccount, { look: ["bare"] }), languageSwitch())));
  show(false);

  /** @param {boolean} byRecoveryCode */
  function show(byRecoveryCode) {
    const code = byRecoveryCode ? recoveryCodeField() : appCodeField();
    fill(place,
      h("p", { class: "quiet" }, byRecoveryCode
        ? t("输入设置两步验证时保存的一个恢复码，每个只能用一次。", "Enter one of the recovery codes that you saved at the set-up; each works once.")
        : t("输入身份验证器应用现在显示的动态码。", "Enter the code that your authenticator app shows now.")),
      form([codeFormField(code)], t("继续", "Continue"), () => give(code.input.value)),
      button(byRecoveryCode ? t("用应用的动态码", "Use a code of the app") : t("手机不在身边，用恢复码", "Use a recovery code instead"),
        () => show(!byRecoveryCode), { look: ["bare"] }));
    code.input.focus();

    /** @param {string} value */
    async function give(value) {
      const { data } = await call("POST", "/user/second-factor", { body: { code: value } });
      // The requested screen opens.
      setToken(data.token);
      if (byRecoveryCode) showToast(t(`还剩 ${data.recoveryCodes} 个恢复码`, `Recovery codes left: ${data.recoveryCodes}`));
    }
  }

  function switchAccount() {
    clearFormDrafts();
    return logOut();
  }
}
