// The thresholds of a sale for operators: whom it is for, besides the member level.

import { call, get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { showToast } from "../../parts/toast.js";
import { formSheet } from "./form.js";
import { numberValue } from "./number-value.js";

/** @typedef {{accountHours: number, smsCode: boolean}} Thresholds */

const ACCOUNT_HOURS_MAX = 8_760;

/**
 * Returns the section of a sale's thresholds.
 * @param {number} sale voucher id
 * @param {AbortSignal} signal
 */
export function thresholds(sale, signal) {
  const state = h("div", { class: "stack tight" });
  const actions = h("div", { class: "row wrap" });
  const title = t("门槛", "Thresholds");
  const path = `/ops/sales/${sale}/thresholds`;
  reload();
  return h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title), state, actions);

  async function reload() {
    try {
      show(await get(path, { signal }));
    } catch (error) {
      if (!signal.aborted) fill(state, errorState(error, reload));
    }
  }

  /** @param {Thresholds} now */
  function show(now) {
    const { accountHours, smsCode } = now;
    const texts = [
      accountHours > 0 && t(`账号须注册满 ${accountHours.toLocaleString()} 小时`, `Accounts at least ${accountHours.toLocaleString()} h old`),
      smsCode && t("须用短信验证码登录", "Log-in with an SMS code"),
    ].filter(Boolean);
    fill(state, texts.length > 0 ? texts.map((text) => h("p", null, text))
      : h("p", { class: "quiet" }, t("会员等级之外没有门槛。新注册的账号常用来抢购，可以要求注册满一段时间。", "None besides the member level. Accounts made for a sale are new: a threshold keeps them out.")));
    fill(actions, button(t("修改门槛", "Change the thresholds"), () => void edit(now), { icon: "shield" }));
  }

  /** @param {Thresholds} now */
  async function edit(now) {
    const age = field(t("注册时长（小时，0 为不限）", "Age of the account (hours, 0 = any)"), "input", { type: "number", step: 1, min: 0, max: ACCOUNT_HOURS_MAX, value: now.accountHours, required: true });
    const box = h("input", { type: "checkbox", checked: now.smsCode });
    await formSheet(t("门槛", "Thresholds"), [{ field: age, names: ["注册时长", "accountHours"] }], t("保存", "Save"), async () => {
      const { data } = await call("PUT", path, { body: { accountHours: numberValue(age.input) ?? 0, smsCode: box.checked } });
      show(data);
      showToast(t("门槛已保存", "Thresholds saved"));
      return true;
    }, { before: [h("label", { class: "row" }, box, h("span", null, t("须用短信验证码登录，密码登录的不能抢购", "Only sessions that began with an SMS code, not with a password")))] });
  }
}
