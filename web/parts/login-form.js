// The login form: phone number with a code by text message, or with a password.

import { Refusal, call, get, readiness } from "../core/api.js";
import { getCached, setCached } from "../core/cache.js";
import { repeatWhileVisible, fill, h } from "../core/dom.js";
import { isKiosk, loadLocal, saveLocal } from "../core/local-storage.js";
import { t } from "../core/language.js";
import { msUntil } from "../core/server-time.js";
import { logIn } from "../core/session.js";
import { whileBusy, button } from "./button.js";
import { choice } from "./choice.js";
import { field } from "./field.js";
import { keypad } from "./keypad.js";
import { phoneField } from "./phone-field.js";
import { showToast } from "./toast.js";

/** Minimum time between two codes to the same phone. */
const RESEND_AFTER_MS = 55_000;
/** Digits of a code that the operator makes with `mallbox user code`; codes by text message have six. */
const CODE_MAX_DIGITS = 16;
/** The field that each refusal concerns. */
const FIELD_OF_REFUSAL = { PHONE_INVALID: "phone", CODE_TOO_SOON: "secret", CODES_SPENT: "secret", CODE_WRONG: "secret", NO_CODE: "secret", PASSWORD_WRONG: "secret" };

/** @typedef {"code" | "password"} LoginMethod */

/**
 * Returns the typed values, kept in the cache while a language switch renders the form anew.
 * @returns {{phone: string, way: LoginMethod}}
 */
function loadDraft() {
  const draft = /** @type {{phone: string, way: LoginMethod} | undefined} */ (getCached("login")) ?? { phone: "", way: "code" };
  setCached("login", draft);
  return draft;
}

/**
 * @type {Map<string, import("../core/server-time.js").Moment>} earliest time of the next code, by phone number
 */
const resendAt = new Map();

/** Tickets kept: a changed phone number has a code to each of two numbers. */
const TICKETS_MAX = 2;

/**
 * Returns the ticket of the last code that this browser requested for a number. Stored, because a phone may
 * discard the page while its user reads the message.
 * @param {string} phone
 */
export function ticketFor(phone) {
  return loadTickets().find(([owner]) => owner === phone)?.[1];
}

/** Deletes the tickets, once they are used. */
export function forgetTickets() {
  saveLocal("ticket", null);
}

/** Returns pairs of phone number and ticket, the newest last. */
function loadTickets() {
  return (loadLocal("ticket") ?? "").split(",").filter(Boolean).map((pair) => pair.split(" "));
}

/**
 * @param {string} phone
 * @param {string} ticket
 */
function keepTicket(phone, ticket) {
  const kept = [...loadTickets().filter(([owner]) => owner !== phone), [phone, ticket]].slice(-TICKETS_MAX);
  saveLocal("ticket", kept.map((pair) => pair.join(" ")).join(","));
}

/**
 * @typedef {object} LoginFormOptions
 * @property {() => void} done called after the login
 * @property {AbortSignal} signal
 * @property {string} [phone] initial phone number
 */

/**
 * @param {LoginFormOptions} options
 * @returns {{root: HTMLFormElement, focus: () => void}}
 */
export function logInForm({ done: onLogin, signal, phone: initialPhone = "" }) {
  const draft = loadDraft();
  draft.phone ||= initialPhone;
  const phone = phoneField({ inputmode: isKiosk ? "none" : "numeric", value: draft.phone, oninput: () => (draft.phone = phone.number()) });
  const submit = h("button", { type: "submit", class: "button main wide" }, t("登录", "Log in"));
  const secretPlace = h("div", { class: "stack" });
  /** @type {SecretField} */
  let secretField;
  const root = h("form", { class: "card pad stack", novalidate: true, onsubmit: submitForm }, !isKiosk && methodChoice(), phone.root, secretPlace,
    isKiosk && keypad(() => [phone.input, secretField.input], signal), submit);
  showMethod(draft.way);
  return { root, focus: () => (draft.phone ? secretField.input : phone.input).focus() };

  function methodChoice() {
    /** @type {{value: LoginMethod, text: string}[]} */
    const options = [{ value: "code", text: t("验证码", "Use a code") }, { value: "password", text: t("密码", "Use a password") }];
    return choice(t("登录方式", "Login method"), options, draft.way, showMethod);
  }

  /** @param {LoginMethod} way */
  function showMethod(way) {
    draft.way = way;
    secretField = way === "code" ? codeField(phone, signal) : passwordField();
    fill(secretPlace, secretField.root, secretField.more);
  }

  /** @param {SubmitEvent} event */
  function submitForm(event) {
    event.preventDefault();
    whileBusy(submit, async () => {
      const number = phone.validNumber();
      if (!number) return;
      // Passwords may have spaces at either end.
      const value = draft.way === "code" ? secretField.input.value.trim() : secretField.input.value;
      secretField.wrong(value ? "" : secretField.missing);
      if (!value) return;
      try {
        await logIn({ phone: number, [draft.way]: value, ticket: draft.way === "code" ? ticketFor(number) : undefined });
      } catch (error) {
        if (!showBesideField(error)) throw error;
        return;
      }
      forgetTickets();
      draft.phone = "";
      if (!signal.aborted) onLogin();
    });
  }

  /** @param {unknown} error shown beside the field concerned; returns whether such a field exists */
  function showBesideField(error) {
    const about = error instanceof Refusal && FIELD_OF_REFUSAL[/** @type {keyof typeof FIELD_OF_REFUSAL} */ (error.code)];
    if (about) (about === "phone" ? phone : secretField).wrong(/** @type {Refusal} */ (error).message);
    return about;
  }
}

/** @typedef {import("./field.js").Field<HTMLInputElement> & {missing: string, more?: Node}} SecretField */

/** @returns {SecretField} */
export function passwordField() {
  const base = field(t("密码", "Password"), "input", { type: "password", autocomplete: "current-password", required: true });
  return { ...base, missing: t("请输入密码", "Enter your password") };
}

/**
 * @param {import("./phone-field.js").PhoneField} phone
 * @param {AbortSignal} signal
 * @returns {SecretField}
 */
export function codeField(phone, signal) {
  const base = field(t("验证码", "Code"), "input", { type: "text", inputmode: isKiosk ? "none" : "numeric", autocomplete: "one-time-code", maxlength: CODE_MAX_DIGITS, required: true });
  const sendCodeButton = h("button", { type: "button", class: "button", onclick: () => whileBusy(sendCodeButton, sendCode) });
  const inputRow = h("div", { class: "row" });
  base.input.replaceWith(inputRow);
  inputRow.append(base.input, sendCodeButton);
  const more = h("div", { hidden: true }, button(t("演示：填入收到的验证码", "Demo: fill in the received code"), fillFromInbox, { look: ["bare"] }));
  readiness().then(({ inbox }) => (more.hidden = !inbox), () => {});
  updateButton();
  repeatWhileVisible(500, signal, updateButton);

  function updateButton() {
    const left = msUntil(resendAt.get(phone.number()) ?? 0);
    sendCodeButton.disabled = left > 0;
    sendCodeButton.textContent = left > 0
      ? t(`${Math.ceil(left / 1000)} 秒后重发`, `Resend in ${Math.ceil(left / 1000)} s`)
      : t("获取验证码", "Send code");
  }

  async function sendCode() {
    const number = phone.validNumber();
    if (!number) return;
    try {
      const sent = await call("POST", "/user/code", { query: { phone: number, ticket: "true" }, signal });
      keepTicket(number, sent.data);
    } catch (error) {
      if (!(error instanceof Refusal) || error.isTrouble) throw error;
      base.wrong(error.message);
      return;
    }
    resendAt.set(number, performance.now() + RESEND_AFTER_MS);
    updateButton();
    base.wrong("");
    base.input.focus();
    showToast(t("验证码已发送", "Code sent"));
  }

  async function fillFromInbox() {
    const number = phone.validNumber();
    if (!number) return;
    base.input.value = (await get("/demo/inbox", { query: { phone: number }, signal })).code;
    base.wrong("");
    base.input.focus();
  }

  return { ...base, more, missing: t("请输入验证码", "Enter the code") };
}
