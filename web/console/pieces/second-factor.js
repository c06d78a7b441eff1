// Setting up a second factor: the secret for an authenticator app, and the recovery codes.

import { Refusal, call, setToken } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { field } from "../../parts/field.js";
import { qrCode } from "../../parts/qr-code.js";
import { openSheet } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { form, formSheet } from "./form.js";

/**
 * Response of `POST /user/second-factor/enrolment`.
 * @typedef {object} Enrolment
 * @property {string} secret
 * @property {string} uri
 * @property {import("../../parts/qr-code.js").Qr} qr
 */

/** Names of the code in refusals. */
const CODE_NAMES = ["动态码", "验证码", "code"];
/** Digits per group of a secret. */
const GROUP = 4;

/** Returns the field for a code of the app. */
export function appCodeField() {
  return field(t("应用显示的6位动态码", "Six-digit code of the app"), "input", { inputmode: "numeric", autocomplete: "one-time-code", maxlength: 7, required: true });
}

/** Returns the field for a recovery code. */
export function recoveryCodeField() {
  return field(t("恢复码", "Recovery code"), "input", { autocomplete: "off", autocapitalize: "characters", spellcheck: "false", maxlength: 64, required: true });
}

/** @param {import("../../parts/field.js").Field<HTMLInputElement>} input */
export function codeFormField(input) {
  return { field: input, names: CODE_NAMES };
}

/**
 * Asks for a code of the factor in force, or a recovery code.
 * @param {string} title
 * @param {string} text the consequence
 * @param {string} yes label of the confirming button
 * @param {(code: string) => unknown} action
 * @param {boolean} [danger] whether the action cannot be undone
 */
export function askCode(title, text, yes, action, danger = false) {
  const code = field(t("动态码或恢复码", "Code or recovery code"), "input", { autocomplete: "one-time-code", spellcheck: "false", maxlength: 64, required: true });
  return formSheet(title, [codeFormField(code)], yes, () => action(code.input.value), { before: [h("p", null, text)], danger });
}

/**
 * Begins to set up a factor, and shows the secret in `place`. Asks for the password if the login was too long
 * ago.
 * @param {HTMLElement} place
 * @param {{code?: string, password?: string}} [proof]
 * @returns {Promise<void>}
 */
export async function setUpFactor(place, proof = {}) {
  let enrolment;
  try {
    enrolment = (await call("POST", "/user/second-factor/enrolment", { body: proof })).data;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "FRESH_LOGIN_NEEDED") throw error;
    return askPassword(place, error.message);
  }
  const code = appCodeField();
  fill(place, enrolmentSteps(enrolment, code));
  // After the dialog that asked for a proof, if any: outside of an open dialog nothing takes the focus.
  setTimeout(() => code.input.focus());
}

/**
 * @param {HTMLElement} place
 * @param {string} why
 */
function askPassword(place, why) {
  const password = field(t("密码", "Password"), "input", { type: "password", autocomplete: "current-password", required: true });
  return formSheet(t("请先验证身份", "Confirm your identity"), [{ field: password, names: ["密码", "password"] }], t("继续", "Continue"),
    () => setUpFactor(place, { password: password.input.value }), { before: [h("p", null, why)] });
}

/**
 * @param {Enrolment} enrolment
 * @param {import("../../parts/field.js").Field<HTMLInputElement>} code
 */
function enrolmentSteps({ secret, uri, qr }, code) {
  const groups = secret.match(new RegExp(`.{1,${GROUP}}`, "g")) ?? [];
  return h("div", { class: "stack" },
    h("p", null, t("1. 用身份验证器应用扫描二维码，或输入下面的密钥。", "1. Scan the QR code with an authenticator app, or type in the secret below.")),
    h("div", { class: "factor-secret" }, qrCode(qr, t("供身份验证器应用扫描的二维码", "QR code for the authenticator app")),
      h("p", { class: "mono" }, h("span", { class: "unseen" }, t("密钥 ", "Secret ")), groups.join(" ")),
      h("a", { class: "link small", href: uri }, t("在这台设备的应用中打开", "Open in an app on this device"))),
    h("p", null, t("2. 输入应用显示的动态码。", "2. Enter the code that the app shows.")),
    form([codeFormField(code)], t("启用", "Turn on"), async () => {
      const { data } = await call("PUT", "/user/second-factor", { body: { code: code.input.value } });
      // The screen reopens below the dialog.
      setToken(data.token);
      showRecoveryCodes(data.recoveryCodes);
    }));
}

/**
 * Shows recovery codes, which nobody can read again.
 * @param {string[]} codes
 */
export function showRecoveryCodes(codes) {
  return openSheet(t("恢复码", "Recovery codes"), (close) => [
    h("p", null, t("手机不在身边时，每个恢复码可以代替一次动态码。请打印或抄下来，放在安全的地方；这里只显示这一次。",
      "Without your phone, each of these codes works once in place of a code of the app. Print them or write them down, and keep them safe; they are shown only now.")),
    h("ol", { class: "recovery-codes mono" }, codes.map((code) => h("li", null, code))),
    h("div", { class: "buttons" },
      // Browsers offer the clipboard to secure pages only.
      Boolean(navigator.clipboard) && button(t("复制", "Copy"), async () => {
        await navigator.clipboard.writeText(codes.join("\n"));
        showToast(t("已复制", "Copied"));
      }),
      button(t("打印", "Print"), () => print(), { icon: "print" }),
      button(t("我已保存", "I have saved them"), close, { look: ["main"] })),
  ]);
}
