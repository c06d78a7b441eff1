// The table of member levels: credits needed for each level.

import { call, get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { field } from "../../parts/field.js";
import { screenHeader } from "../../parts/screen-header.js";
import { confirmAction } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { form } from "../pieces/form.js";
import { LEVELS } from "../pieces/level-form.js";
import { numberValue } from "../pieces/number-value.js";

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title }) {
  const name = t("会员等级", "Levels");
  title(name);
  const place = h("section", { class: "card pad" }, skeletons(1, "20rem"));
  root.append(screenHeader(name, { home: "/users" }), h("div", { class: "narrow stack" },
    h("p", { class: "quiet" }, t("签到和已支付的订单得积分，积分达到下列数值即升级。新建秒杀时可以限制最低等级。",
      "Sign-ins and paid orders earn credits, and credits make levels. A sale can ask for a minimum level.")), place));
  /** @type {{level: number, credits: number}[]} */
  const levels = await get("/ops/levels", { signal });
  render(levels.map(({ credits }) => credits));

  /** @param {(number | undefined)[]} credits of level 0 and each further level */
  function render(credits) {
    const inputs = credits.slice(1).map((value, index) => field(t(`${index + 1} 级所需积分`, `Credits for level ${index + 1}`), "input",
      { type: "number", min: 1, step: 1, inputmode: "numeric", required: true, value }));
    const values = () => [0, ...inputs.map(({ input }) => numberValue(input))];
    const addButton = button(t("增加一级", "Add a level"), () => render([...values(), undefined]), { icon: "plus" });
    const dropButton = button(t("去掉最高一级", "Remove the highest level"), () => render(values().slice(0, -1)));
    addButton.disabled = credits.length >= LEVELS.length;
    dropButton.disabled = credits.length <= 1;
    fill(place, form(inputs.map((input, index) => ({ field: input, names: index === 0 ? ["各级所需的积分", "credits"] : [] })), t("保存", "Save"), async () => {
      const isConfirmed = await confirmAction(t("保存等级表？", "Save the levels?"),
        t("所有用户的等级立即按新表计算。", "The levels of all users follow the new table at once."), t("保存", "Save"));
      if (!isConfirmed) return false;
      const { data } = await call("PUT", "/ops/levels", { body: { credits: values() } });
      render(data.map((/** @type {{credits: number}} */ one) => one.credits));
      showToast(t("等级表已保存", "Levels saved"));
      return true;
    }, { inside: [h("div", { class: "fields" }, inputs.map(({ root: one }) => one)), h("div", { class: "row wrap" }, addButton, dropButton)] }));
  }
}
