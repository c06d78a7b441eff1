// Logging in: by a code that comes to the phone, or by a password.

import { Refusal, call, get, readiness } from "../core/api.js";
import { copyOf, copyTo } from "../core/copies.js";
import { every, fill, h } from "../core/dom.js";
import { isKiosk } from "../core/kept.js";
import { both } from "../core/language.js";
import { until } from "../core/moments.js";
import { logIn } from "../core/session.js";
import { busy, button } from "./button.js";
import { choice } from "./choice.js";
import { field } from "./field.js";
import { keypad } from "./keypad.js";
import { say } from "./toast.js";

/** The mall sends a code to a phone once in so long. */
const AGAIN_AFTER_MS = 55_000;
/** As the mall checks it. */
const PHONE = /^1[3-9]\d{9}$/;
/** Which field a refusal is about. */
const ABOUT = { PHONE_INVALID: "phone", CODE_TOO_SOON: "secret", CODE_WRONG: "secret", NO_CODE: "secret", PASSWORD_WRONG: "secret" };

/** @typedef {"code" | "password"} Way */

/**
 * What was typed stays while the screen is drawn anew in the other language, and no longer than other copies.
 * @returns {{phone: string, way: Way}}
 */
function whatWasTyped() {
  const typed = /** @type {{phone: string, way: Way} | undefined} */ (copyOf("log-in")) ?? { phone: "", way: "code" };
  copyTo("log-in", typed);
  return typed;
}

/** @type {Map<string, import("../core/moments.js").Moment>} when a phone may be sent a code again */
const again = new Map();

/**
 * @typedef {object} LogIn
 * @property {() => void} done somebody is logged in
 * @property {AbortSignal} signal
 * @property {string} [phone] stands there at first
 */

/**
 * @param {LogIn} how
 * @returns {{root: HTMLFormElement, focus: () => void}}
 */
export function logInForm({ done, signal, phone: first = "" }) {
  const typed = whatWasTyped();
  typed.phone ||= first;
  const phone = field(both("手机号", "Phone number"), "input", {
    type: "tel", inputmode: isKiosk ? "none" : "numeric", autocomplete: "username", maxlength: 11, required: true, value: typed.phone,
    oninput: () => (typed.phone = phone.input.value.trim()),
  });
  const submit = h("button", { type: "submit", class: "button main wide" }, both("登录", "Log in"));
  const secret = h("div", { class: "stack" });
  /** @type {SecretField} */
  let asked;
  const root = h("form", { class: "card pad stack", novalidate: true, onsubmit: send }, !isKiosk && ways(), phone.root, secret,
    isKiosk && keypad(() => [phone.input, asked.input], signal), submit);
  show(typed.way);
  return { root, focus: () => (typed.phone ? asked.input : phone.input).focus() };

  function ways() {
    /** @type {{value: Way, text: string}[]} */
    const options = [{ value: "code", text: both("验证码", "By code") }, { value: "password", text: both("密码", "By password") }];
    return choice(both("登录方式", "How to log in"), options, typed.way, show);
  }

  /** @param {Way} way */
  function show(way) {
    typed.way = way;
    asked = way === "code" ? codeField(() => typed.phone, numberOf, signal) : passwordField();
    fill(secret, asked.root, asked.more);
  }

  /** The number that was typed, if it can be one. */
  function numberOf() {
    const isRight = PHONE.test(typed.phone);
    phone.wrong(isRight ? "" : both("请输入11位手机号", "Please enter the 11 digits of a mobile number"));
    return isRight ? typed.phone : null;
  }

  /** @param {SubmitEvent} event */
  function send(event) {
    event.preventDefault();
    busy(submit, async () => {
      const number = numberOf();
      if (!number) return;
      // A password may begin or end with a space.
      const value = typed.way === "code" ? asked.input.value.trim() : asked.input.value;
      asked.wrong(value ? "" : asked.missing);
      if (!value) return;
      try {
        await logIn({ phone: number, [typed.way]: value });
      } catch (error) {
        if (!blamed(error)) throw error;
        return;
      }
      typed.phone = "";
      if (!signal.aborted) done();
    });
  }

  /** @param {unknown} error whether it was shown beside the field that it is about */
  function blamed(error) {
    const about = error instanceof Refusal && ABOUT[/** @type {keyof typeof ABOUT} */ (error.code)];
    if (about) (about === "phone" ? phone : asked).wrong(/** @type {Refusal} */ (error).message);
    return about;
  }
}

/** @typedef {import("./field.js").Field<HTMLInputElement> & {missing: string, more?: Node}} SecretField */

/** @returns {SecretField} */
function passwordField() {
  const made = field(both("密码", "Password"), "input", { type: "password", autocomplete: "current-password", required: true });
  return { ...made, missing: both("请输入密码", "Please enter your password") };
}

/**
 * @param {() => string} phone as it is typed until now
 * @param {() => string | null} numberOf
 * @param {AbortSignal} signal
 * @returns {SecretField}
 */
function codeField(phone, numberOf, signal) {
  const made = field(both("验证码", "Code"), "input", { type: "text", inputmode: isKiosk ? "none" : "numeric", autocomplete: "one-time-code", maxlength: 6, required: true });
  const ask = h("button", { type: "button", class: "button", onclick: () => busy(ask, askForCode) });
  const beside = h("div", { class: "row" });
  made.input.replaceWith(beside);
  beside.append(made.input, ask);
  const more = h("div", { hidden: true }, button(both("演示：填入收到的验证码", "Demo: fill in the code that came"), readInbox, { look: ["bare"] }));
  readiness().then(({ inbox }) => (more.hidden = !inbox), () => {});
  wait();
  every(500, signal, wait);

  function wait() {
    const left = until(again.get(phone()) ?? 0);
    ask.disabled = left > 0;
    ask.textContent = left > 0
      ? both(`${Math.ceil(left / 1000)} 秒后重发`, `Again in ${Math.ceil(left / 1000)} s`)
      : both("获取验证码", "Send code");
  }

  async function askForCode() {
    const number = numberOf();
    if (!number) return;
    try {
      await call("POST", "/user/code", { query: { phone: number }, signal });
    } catch (error) {
      if (!(error instanceof Refusal) || error.isTrouble) throw error;
      made.wrong(error.message);
      return;
    }
    again.set(number, performance.now() + AGAIN_AFTER_MS);
    wait();
    made.wrong("");
    made.input.focus();
    say(both("验证码已发送", "The code is on its way"));
  }

  async function readInbox() {
    const number = numberOf();
    if (!number) return;
    made.input.value = (await get("/demo/inbox", { query: { phone: number }, signal })).code;
    made.wrong("");
    made.input.focus();
  }

  return { ...made, more, missing: both("请输入验证码", "Please enter the code") };
}
