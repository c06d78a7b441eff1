// The level of a user: how it comes about, and the form to set it.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { fact } from "../../parts/fact.js";
import { field } from "../../parts/field.js";
import { showToast } from "../../parts/toast.js";
import { formSheet } from "./form.js";

/**
 * The response of `GET /ops/users/{id}/level`.
 * @typedef {object} UserLevel
 * @property {number} level in force
 * @property {number} credits
 * @property {number} earned by the credits
 * @property {number} imported 0 without an import
 * @property {number} [set] by an operator
 */

/** All levels that a user can have. */
export const LEVELS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/** @param {{id: number, nickName: string}} user */
export async function editLevel({ id, nickName }) {
  /** @type {UserLevel} */
  const is = await get(`/ops/users/${id}/level`);
  const level = field(t("设置等级", "Set level"), "select", {},
    h("option", { value: "" }, t("不设置", "Not set")), LEVELS.map((one) => h("option", { value: one, selected: is.set === one }, t(`${one} 级`, `Level ${one}`))));
  await formSheet(t(`${nickName} 的会员等级`, `Level of ${nickName}`), [{ field: level, names: ["会员等级", "level"] }], t("保存", "Save"), async () => {
    const { value } = level.input;
    const { data } = await call("PUT", `/ops/users/${id}/level`, { body: { level: value === "" ? null : Number(value) } });
    showToast(t(`等级已保存，现为 ${data.level} 级`, `Saved; the level is now ${data.level}`));
  }, { before: [
    h("dl", { class: "terms" }, fact(t("当前等级", "Level"), is.level), fact(t("积分", "Credits"), is.credits),
      fact(t("积分挣得的等级", "Earned level"), is.earned), is.imported > 0 && fact(t("导入的等级", "Imported level"), is.imported)),
    h("p", { class: "small quiet" }, t("设置的等级代替导入的等级；积分挣得的等级更高时，以挣得的为准。操作写入审计日志。",
      "A set level replaces an imported one. A higher level earned by credits prevails. The audit log records the action.")),
  ] });
}
