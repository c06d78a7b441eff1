// Setting or changing the password.

import { Refusal, call } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { back } from "../../core/router.js";
import { screenHeader } from "../../parts/screen-header.js";
import { whileBusy } from "../../parts/button.js";
import { field } from "../../parts/field.js";
import { showToast } from "../../parts/toast.js";
import { requireLogin, redirectIfUnauthorized } from "../login-guard.js";

const MIN_LENGTH = 8;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title }) {
  const name = t("密码", "Password");
  title(name);
  if (!requireLogin()) return;
  const currentPassword = field(t("现在的密码（没有就留空）", "Current password (leave empty if none)"), "input", { type: "password", autocomplete: "current-password" });
  const newPassword = field(t("新密码，至少 8 位", "New password, at least 8 characters"), "input", { type: "password", autocomplete: "new-password", required: true });
  const repetition = field(t("再输一次", "Repeat new password"), "input", { type: "password", autocomplete: "new-password", required: true });
  const submit = h("button", { type: "submit", class: "button main wide" }, t("保存", "Save"));
  root.append(h("div", { class: "narrow stack" }, screenHeader(name, { home: "/me" }),
    h("p", { class: "quiet" }, t("第一次设置，或者忘记了密码：请退出，用验证码登录，10 分钟内不填现在的密码即可设置。保存后，其他设备都要重新登录。",
      "For a first password, or a forgotten one: log out, log in with a code, and leave the current password empty within 10 minutes. Saving logs out all other devices.")),
    h("form", { class: "card pad stack", novalidate: true, onsubmit: save }, currentPassword.root, newPassword.root, repetition.root, submit)));

  /** @param {SubmitEvent} event */
  function save(event) {
    event.preventDefault();
    const [password, repeated] = [newPassword.input.value, repetition.input.value];
    currentPassword.wrong("");
    repetition.wrong(password === repeated ? "" : t("两次输入的不一样", "The passwords do not match"));
    newPassword.wrong(password.length >= MIN_LENGTH ? "" : t("密码至少 8 位", "At least 8 characters"));
    if (password !== repeated || password.length < MIN_LENGTH) return;
    whileBusy(submit, async () => {
      try {
        await call("PUT", "/user/password", { body: { oldPassword: currentPassword.input.value || undefined, password } });
      } catch (error) {
        if (redirectIfUnauthorized(error)) return;
        if (!(error instanceof Refusal) || error.isTrouble) throw error;
        (["PASSWORD_WRONG", "MISSING", "CODE_LOGIN_NEEDED"].includes(error.code) ? currentPassword : newPassword).wrong(error.message);
        return;
      }
      showToast(t("密码已保存", "Password saved"));
      if (!signal.aborted) back("/me");
    });
  }
}
