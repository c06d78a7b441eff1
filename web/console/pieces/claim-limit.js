// The limit of claims of a sale for operators: how many claims a second the mall passes on.

import { call, get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { errorState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { showToast } from "../../parts/toast.js";
import { formSheet } from "./form.js";
import { numberValue } from "./number-value.js";

/** Proposed limit. */
const DEFAULT_LIMIT = 2_000;

/**
 * Returns the section of a sale's limit of claims.
 * @param {number} sale voucher id
 * @param {AbortSignal} signal
 */
export function claimLimit(sale, signal) {
  const state = h("div", { class: "stack tight" });
  const actions = h("div", { class: "row wrap" });
  const title = t("限流", "Limit of claims");
  const path = `/ops/sales/${sale}/claim-limit`;
  reload();
  return h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title), state, actions);

  async function reload() {
    try {
      show((await get(path, { signal })).claimsPerSecond);
    } catch (error) {
      if (!signal.aborted) fill(state, errorState(error, reload));
    }
  }

  /** @param {number} limit */
  function show(limit) {
    fill(state, limit > 0
      ? h("div", { class: "row wrap" }, chip(t("已限流", "On"), "good"), h("span", { class: "number" }, t(`每个实例每秒最多 ${limit.toLocaleString()} 次抢购`, `At most ${limit.toLocaleString()} claims per second and instance`)))
      : h("p", { class: "quiet" }, t("未限流。这场秒杀特别热门时，可以限制每秒的抢购数，让其他秒杀不受影响。", "Off. A limit on a very popular sale leaves room for the other sales.")));
    fill(actions, button(limit > 0 ? t("修改限流", "Change the limit") : t("限流", "Set a limit"), () => void edit(limit), { icon: "shield" }),
      limit > 0 && button(t("取消限流", "Remove the limit"), remove, { look: ["danger"] }));
  }

  /** @param {number} now */
  async function edit(now) {
    const limit = field(t("每秒抢购数", "Claims per second"), "input", { type: "number", step: 1, min: 1, max: 1_000_000, value: now || DEFAULT_LIMIT, required: true });
    await formSheet(t("限流", "Limit of claims"), [{ field: limit, names: ["每秒抢购数", "claimsPerSecond"] }], t("保存", "Save"), async () => {
      await put(numberValue(limit.input) ?? 0);
      showToast(t("限流设置已保存", "Limit saved"));
      return true;
    }, { before: [h("p", { class: "quiet" }, t("超出的抢购会被立即拒绝，买家可以马上再试。", "Claims above the limit are refused at once; buyers can try again."))] });
  }

  async function remove() {
    await put(0);
    showToast(t("已取消限流", "Limit removed"));
  }

  /** @param {number} claimsPerSecond */
  async function put(claimsPerSecond) {
    const { data } = await call("PUT", path, { body: { claimsPerSecond } });
    show(data.claimsPerSecond);
  }
}
