// The waiting list of a sale for operators: whether buyers can wait for returned units, and who does.

import { call, get } from "../../core/api.js";
import { fill, h, repeatWhileVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { errorState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { confirmAction } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { formSheet } from "./form.js";
import { numberValue } from "./number-value.js";
import { timestamp } from "./timestamp.js";

/** @typedef {{max: number, waiting: number, entries: {userId: number, state: "WAITING" | "OFFERED", joinedTime: string}[]}} WaitingList */

/** Proposed maximum. */
const DEFAULT_MAX = 1_000;
const MAX = 10_000;
const REFRESH_EVERY_MS = 5_000;

/**
 * Returns the section of a sale's waiting list.
 * @param {number} sale voucher id
 * @param {AbortSignal} signal
 */
export function waitingList(sale, signal) {
  const state = h("div", { class: "stack tight" });
  const actions = h("div", { class: "row wrap" });
  const title = t("候补名单", "Waiting list");
  const path = `/ops/sales/${sale}/waiting-list`;
  let drawn = "";
  reload();
  // People join and leave without the operator.
  repeatWhileVisible(REFRESH_EVERY_MS, signal, () => drawn !== "" && reload());
  return h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title), state, actions);

  async function reload() {
    try {
      show(await get(path, { signal }));
    } catch (error) {
      // The last known list stays.
      if (!signal.aborted && drawn === "") fill(state, errorState(error, reload));
    }
  }

  /** @param {WaitingList} list */
  function show(list) {
    const looks = JSON.stringify(list);
    if (looks === drawn) return;
    const isSwitched = drawn === "" || JSON.parse(drawn).max !== list.max;
    drawn = looks;
    fill(state, list.max === 0 && list.waiting === 0
      ? h("p", { class: "quiet" }, t("未开启。开启后，抢光时买家可以候补，退回或追加的库存按顺序给候补的人。", "Off. With a list, buyers can wait once the sale is sold out; returned and added units go to them in order."))
      : summary(list));
    // Buttons stay in place while pressed.
    if (!isSwitched) return;
    fill(actions, button(list.max > 0 ? t("修改候补上限", "Change the maximum") : t("开启候补", "Turn on the waiting list"), () => void edit(list.max), { icon: "people" }),
      list.max > 0 && button(t("关闭候补", "Turn off the waiting list"), remove, { look: ["danger"] }));
  }

  /** @param {number} now */
  async function edit(now) {
    const max = field(t("最多候补人数", "Maximum number of people"), "input", { type: "number", step: 1, min: 1, max: MAX, value: now || DEFAULT_MAX, required: true });
    await formSheet(t("候补名单", "Waiting list"), [{ field: max, names: ["候补人数上限", "max"] }], t("保存", "Save"), async () => {
      await put(numberValue(max.input) ?? 0);
      showToast(t("候补设置已保存", "Waiting list saved"));
      return true;
    }, { before: [h("p", { class: "quiet" }, t("只要有人候补，其他人就抢不到退回或追加的库存。", "While somebody waits, nobody else can buy returned or added units."))] });
  }

  async function remove() {
    const isSure = await confirmAction(t("关闭候补？", "Turn off the waiting list?"), t("之后不能再加入候补；已在名单上的人不受影响。", "Nobody else can join; people who wait keep their places."), t("关闭候补", "Turn off the waiting list"), { danger: true });
    if (!isSure) return;
    await put(0);
    showToast(t("候补已关闭", "Waiting list turned off"));
  }

  /** @param {number} max */
  async function put(max) {
    const { data } = await call("PUT", path, { body: { max } });
    show(data);
  }
}

/** @param {WaitingList} list */
function summary({ max, waiting, entries }) {
  const rest = waiting - entries.length;
  return [
    h("div", { class: "row wrap" }, max > 0 ? chip(t("已开启", "On"), "good") : chip(t("不再接受候补", "Closed to new people")),
      h("span", { class: "number" }, max > 0 ? t(`${waiting} 人候补，上限 ${max} 人`, `${waiting} waiting, ${max} at most`) : t(`${waiting} 人候补`, `${waiting} waiting`))),
    entries.length > 0 && h("ol", { class: "waves", "aria-label": t("候补的人，先到在前", "People waiting, first come first") }, entries.map(({ userId, state, joinedTime }) => h("li", { class: "row wrap" },
      h("a", { class: "link", href: `#/users?id=${userId}` }, t(`用户 ${userId}`, `User ${userId}`)), timestamp(joinedTime), state === "OFFERED" && chip(t("正在下单", "Order under way"), "good")))),
    rest > 0 && h("p", { class: "quiet small" }, t(`另有 ${rest} 人`, `${rest} more`)),
  ];
}
