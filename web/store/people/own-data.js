// The user's own data: download of everything, and deletion of the account.

import { Refusal, call, stream } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { go } from "../../core/router.js";
import { logOut } from "../../core/session.js";
import { button, whileBusy } from "../../parts/button.js";
import { choice } from "../../parts/choice.js";
import { icon } from "../../parts/icons.js";
import { codeField, passwordField, ticketFor } from "../../parts/login-form.js";
import { phoneField } from "../../parts/phone-field.js";
import { saveFile } from "../../parts/save-file.js";
import { openSheet } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { redirectIfUnauthorized } from "../login-guard.js";

/** @typedef {import("../../parts/login-form.js").LoginMethod} LoginMethod */
/** @typedef {import("../../parts/login-form.js").SecretField} SecretField */

/** Refusals of the code or the password. */
const SECRET_REFUSALS = ["CODE_WRONG", "NO_CODE", "PASSWORD_WRONG", "RATE_LIMITED"];

/**
 * Returns the rows of the settings.
 * @param {AbortSignal} signal
 */
export function ownData(signal) {
  return [
    row(t("下载我的数据", "Download my data"), () => download(signal)),
    row(t("注销账号", "Delete account"), deleteAccount),
  ];
}

/**
 * @param {string} text
 * @param {() => Promise<void>} action
 */
function row(text, action) {
  const element = h("button", { type: "button", class: "setting" }, h("span", { class: "grow" }, text), icon("forward"));
  element.addEventListener("click", () => whileBusy(element, action));
  return element;
}

/** @param {AbortSignal} signal */
async function download(signal) {
  try {
    await saveFile(await stream("/user/export", signal), "mallbox.json");
  } catch (error) {
    if (!signal.aborted && !redirectIfUnauthorized(error)) throw error;
  }
}

async function deleteAccount() {
  const closed = new AbortController();
  let isDeleted = false;
  await openSheet(t("注销账号", "Delete account"), (close) => [
    h("p", null, t("注销后无法恢复：名字、头像、资料和关注被清除，所有设备退出登录，未支付的订单取消。",
      "This cannot be undone: your name, picture, profile and follows are erased, every device is logged out, and unpaid orders are cancelled.")),
    h("p", { class: "quiet" }, t("笔记和评论会保留，作者显示为“已注销用户”；不想保留，请先删除。",
      "Your notes and comments stay, by a “Deleted user”. Delete them first if you do not want that.")),
    deletionForm(closed.signal, close, () => {
      isDeleted = true;
      close();
    }),
  ]);
  closed.abort();
  if (!isDeleted) return;
  await logOut();
  go("/", { replace: true });
  showToast(t("账号已注销", "Account deleted"));
}

/**
 * @param {AbortSignal} signal aborted when the sheet closes
 * @param {() => void} close
 * @param {() => void} onDeleted
 */
function deletionForm(signal, close, onDeleted) {
  const phone = phoneField();
  const forfeit = h("input", { type: "checkbox" });
  const forfeitRow = h("label", { class: "row", hidden: true }, forfeit, h("span", null, t("放弃已支付、未使用的券", "Give up my paid vouchers")));
  const message = h("p", { class: "wrong", role: "alert" });
  const place = h("div", { class: "stack" });
  const submit = h("button", { type: "submit", class: "button main danger" }, t("注销账号", "Delete account"));
  /** @type {LoginMethod} */
  let way = "code";
  /** @type {SecretField} */
  let secret;
  /** @type {{value: LoginMethod, text: string}[]} */
  const ways = [{ value: "code", text: t("验证码", "Use a code") }, { value: "password", text: t("密码", "Use a password") }];
  showWay(way);
  return h("form", { class: "stack", novalidate: true, onsubmit: save },
    choice(t("确认方式", "Confirm with"), ways, way, showWay), place, forfeitRow, message,
    h("div", { class: "buttons" }, button(t("取消", "Cancel"), close), submit));

  /** @param {LoginMethod} chosen */
  function showWay(chosen) {
    way = chosen;
    secret = way === "code" ? codeField(phone, signal) : passwordField();
    fill(place, way === "code" && phone.root, secret.root, secret.more);
  }

  /** @param {SubmitEvent} event */
  function save(event) {
    event.preventDefault();
    whileBusy(submit, async () => {
      const value = way === "code" ? secret.input.value.trim() : secret.input.value;
      message.textContent = "";
      secret.wrong(value ? "" : secret.missing);
      if (!value) return;
      try {
        await call("DELETE", "/user/me", { query: { forfeit: forfeit.checked ? "true" : undefined }, body: { [way]: value, ticket: way === "code" ? ticketFor(phone.number()) : undefined }, timeoutMs: 15_000 });
      } catch (error) {
        if (!showRefusal(error)) throw error;
        return;
      }
      onDeleted();
    });
  }

  /** @param {unknown} error shown in the form; returns whether the form has a place for the error */
  function showRefusal(error) {
    if (!(error instanceof Refusal) || error.status >= 500) return false;
    if (SECRET_REFUSALS.includes(error.code)) {
      secret.wrong(error.message);
    } else {
      if (error.code === "PAID_ORDERS") forfeitRow.hidden = false;
      message.textContent = error.message;
    }
    return true;
  }
}
