// Changing the phone number, with a code to the present and a code to the new number.

import { Refusal, call } from "../../core/api.js";
import { getCached, setCached } from "../../core/cache.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { back } from "../../core/router.js";
import { whileBusy } from "../../parts/button.js";
import { codeField, forgetTickets, ticketFor } from "../../parts/login-form.js";
import { phoneField } from "../../parts/phone-field.js";
import { screenHeader } from "../../parts/screen-header.js";
import { showToast } from "../../parts/toast.js";
import { requireLogin, redirectIfUnauthorized } from "../login-guard.js";

const CACHE_KEY = "new-phone";
/** Refusals of the new number. */
const NUMBER_REFUSALS = ["PHONE_INVALID", "PHONE_TAKEN", "OUT_OF_RANGE"];
/** Refusals of a code. */
const CODE_REFUSALS = ["CODE_WRONG", "NO_CODE"];
/** Refusals after which the code of the present number is used up. */
const LATE_REFUSALS = [...CODE_REFUSALS, "PHONE_TAKEN"];

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title }) {
  const name = t("更换手机号", "Change phone number");
  title(name);
  if (!requireLogin()) return;
  const draft = loadDraft();
  const present = numberWithCode(t("现在的手机号", "Present number"), signal, draft.present, (typed) => (draft.present = typed));
  const fresh = numberWithCode(t("新的手机号", "New number"), signal, draft.fresh, (typed) => (draft.fresh = typed));
  const message = h("p", { class: "wrong", role: "alert" });
  const submit = h("button", { type: "submit", class: "button main wide" }, t("更换", "Change number"));
  root.append(h("div", { class: "narrow stack" }, screenHeader(name, { home: "/me" }),
    h("p", { class: "quiet" }, t("两个手机号各收一个验证码。更换后用新的手机号登录，其他设备都要重新登录。现在的手机号收不到短信？请联系商城。",
      "Each number receives a code. Afterwards you log in with the new number, and all other devices are logged out. No messages to your present number? Contact the mall.")),
    h("form", { class: "stack", novalidate: true, onsubmit: save }, present.root, fresh.root, message, submit)));

  /** @param {SubmitEvent} event */
  function save(event) {
    event.preventDefault();
    whileBusy(submit, async () => {
      message.textContent = "";
      // The last field with an error gets the focus: the upper part is checked last.
      const areFilled = [fresh, present].map((part) => part.isFilled());
      if (areFilled.includes(false)) return;
      const body = {
        oldCode: present.code(), oldTicket: ticketFor(present.number()),
        phone: fresh.number(), code: fresh.code(), ticket: ticketFor(fresh.number()),
      };
      try {
        await call("PUT", "/user/phone", { body });
      } catch (error) {
        if (redirectIfUnauthorized(error)) return;
        if (!(error instanceof Refusal) || error.status >= 500) throw error;
        showRefusal(error);
        return;
      }
      forgetTickets();
      draft.present = draft.fresh = "";
      showToast(t("手机号已更换", "Phone number changed"));
      if (!signal.aborted) back("/me");
    });
  }

  /** @param {Refusal} refusal */
  function showRefusal(refusal) {
    if (CODE_REFUSALS.includes(refusal.code) && refusal.answer.field === "oldCode") {
      present.wrongCode(refusal.message);
      return;
    }
    if (LATE_REFUSALS.includes(refusal.code)) {
      present.clearCode();
      message.textContent = t("现在手机号的验证码已经用掉，请重新获取。", "The code of your present number is used up; request another one.");
    }
    if (CODE_REFUSALS.includes(refusal.code)) fresh.wrongCode(refusal.message);
    else if (NUMBER_REFUSALS.includes(refusal.code)) fresh.wrongNumber(refusal.message);
    else message.textContent = refusal.message;
  }
}

/**
 * Returns the typed numbers, kept in the cache while a language switch renders the form anew.
 * @returns {{present: string, fresh: string}}
 */
function loadDraft() {
  const draft = /** @type {{present: string, fresh: string} | undefined} */ (getCached(CACHE_KEY)) ?? { present: "", fresh: "" };
  setCached(CACHE_KEY, draft);
  return draft;
}

/**
 * A phone number, and the code sent to it.
 * @param {string} name
 * @param {AbortSignal} signal
 * @param {string} typed
 * @param {(typed: string) => void} onInput
 */
function numberWithCode(name, signal, typed, onInput) {
  const phone = phoneField({ autocomplete: "tel-national", value: typed, oninput: () => onInput(phone.number()) });
  const code = codeField(phone, signal);
  const root = h("div", { class: "card pad stack", role: "group", "aria-label": name }, h("h2", null, name), phone.root, code.root, code.more);
  return {
    root, isFilled,
    number: phone.number,
    code: () => code.input.value.trim(),
    clearCode: () => (code.input.value = ""),
    wrongNumber: phone.wrong,
    wrongCode: code.wrong,
  };

  /** Whether number and code are there; shows an error otherwise. */
  function isFilled() {
    const hasCode = code.input.value.trim() !== "";
    code.wrong(hasCode ? "" : code.missing);
    return phone.validNumber() !== null && hasCode;
  }
}
