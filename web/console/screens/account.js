// The operator's own account: the second factor.

import { call, get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { errorState } from "../../parts/empty-state.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { heading } from "../pieces/heading.js";
import { askCode, setUpFactor, showRecoveryCodes } from "../pieces/second-factor.js";
import { timestamp } from "../pieces/timestamp.js";

/** @typedef {import("../access.js").Factor} Factor */

/** Number of recovery codes at which new ones are advised. */
const FEW_CODES = 3;

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title }) {
  title(t("账号安全", "My account"));
  const place = h("div", { class: "stack" }, skeletons(1, "9rem"));
  root.append(heading(t("账号安全", "My account")),
    h("section", { class: "card pad stack account", "aria-label": t("两步验证", "Second factor") }, h("h2", null, t("两步验证", "Second factor")), place));
  await refresh();

  /** @returns {Promise<void>} */
  async function refresh() {
    try {
      render(await get("/user/second-factor", { signal }));
    } catch (error) {
      if (!signal.aborted) fill(place, errorState(error, refresh));
    }
  }

  /** @param {Factor} factor */
  function render(factor) {
    fill(place, factor.state === "active" ? active(factor) : inactive());
  }

  function inactive() {
    return h("div", { class: "stack" },
      h("p", null, t("登录后还要输入手机应用显示的动态码，别人只有您的手机号或密码也进不了管理台。",
        "After the login, the console asks for a code that an app on your phone shows. Your phone number or password alone then opens nothing.")),
      h("div", { class: "row" }, button(t("启用两步验证", "Turn on"), () => setUpFactor(place), { look: ["main"], icon: "shield" })));
  }

  /** @param {Factor} factor */
  function active({ since, recoveryCodes, required }) {
    const few = recoveryCodes <= FEW_CODES;
    return h("div", { class: "stack" },
      h("p", { class: "row wrap" }, chip(t("已启用", "On"), "good"), since && h("span", { class: "quiet" }, t("自 ", "since "), timestamp(since))),
      h("p", null, t(`还剩 ${recoveryCodes} 个恢复码。`, `Recovery codes left: ${recoveryCodes}.`), few && ` ${t("请及时更换。", "Replace them soon.")}`),
      required && h("p", { class: "quiet" }, t("商城要求管理员使用两步验证，不能关闭。", "The mall requires a second factor of operators; it cannot be turned off.")),
      h("div", { class: "row wrap" },
        button(t("更换恢复码", "New recovery codes"), renew, { look: few ? ["main"] : [] }),
        button(t("换一台手机", "Use another phone"), replace),
        !required && button(t("关闭", "Turn off"), remove, { look: ["danger"] })));
  }

  function renew() {
    return askCode(t("更换恢复码？", "New recovery codes?"), t("旧的恢复码全部作废。", "All former recovery codes become void."), t("更换", "Replace"), async (code) => {
      const { data } = await call("POST", "/user/second-factor/recovery-codes", { body: { code } });
      // After the dialog that asks.
      setTimeout(() => showRecoveryCodes(data));
      refresh();
    });
  }

  function replace() {
    return askCode(t("换一台手机？", "Use another phone?"), t("新手机确认之前，旧手机的动态码仍然有效。", "Codes of the old phone stay valid until the new phone is confirmed."), t("继续", "Continue"),
      (code) => setUpFactor(place, { code }));
  }

  function remove() {
    return askCode(t("关闭两步验证？", "Turn off the second factor?"), t("以后只凭手机号或密码就能进入管理台。其他登录全部失效。", "The console then opens with your phone number or password alone. All other sessions end."), t("关闭", "Turn off"), async (code) => {
      await call("DELETE", "/user/second-factor", { body: { code } });
      showToast(t("两步验证已关闭", "Second factor turned off"));
      await refresh();
    }, true);
  }
}
