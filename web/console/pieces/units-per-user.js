// The units per user of a sale for operators.

import { call, get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { showToast } from "../../parts/toast.js";
import { formSheet } from "./form.js";
import { numberValue } from "./number-value.js";

const PER_USER_MAX = 20;

/**
 * Returns the section of a sale's units per user.
 * @param {number} sale voucher id
 * @param {AbortSignal} signal
 */
export function unitsPerUser(sale, signal) {
  const state = h("div", { class: "stack tight" });
  const actions = h("div", { class: "row wrap" });
  const title = t("每人限购", "Units per user");
  const path = `/ops/sales/${sale}/per-user`;
  reload();
  return h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title), state, actions);

  async function reload() {
    try {
      show((await get(path, { signal })).perUser);
    } catch (error) {
      if (!signal.aborted) fill(state, errorState(error, reload));
    }
  }

  /** @param {number} perUser */
  function show(perUser) {
    fill(state, h("p", { class: "number" }, t(`每人 ${perUser} 份`, `${perUser} per user`)));
    fill(actions, button(t("修改限购", "Change the limit"), () => void edit(perUser), { icon: "ticket" }));
  }

  /** @param {number} now */
  async function edit(now) {
    const units = field(t("每人限购", "Units per user"), "input", { type: "number", step: 1, min: 1, max: PER_USER_MAX, value: now, required: true });
    await formSheet(t("每人限购", "Units per user"), [{ field: units, names: ["每人限购", "perUser"] }], t("保存", "Save"), async () => {
      const { data } = await call("PUT", path, { body: { perUser: numberValue(units.input) ?? 0 } });
      show(data.perUser);
      showToast(t("每人限购已保存", "Limit saved"));
      return true;
    }, { before: [h("p", { class: "quiet" }, t("每次抢一份。调低之后，已经超出的买家保留所持，不再能抢。", "Each claim takes one. Buyers who hold more after the limit is lowered keep them, and get no further one."))] });
  }
}
