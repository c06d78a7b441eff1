// The waiting room of a sale for operators: how many buyers are admitted per second, and how many wait.

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

/** @typedef {{perSecond: number, admissionSeconds: number, waiting: number, admitted: number}} WaitingRoom */

/** Proposed rate. */
const DEFAULT_PER_SECOND = 100;
const REFRESH_EVERY_MS = 5_000;

/**
 * Returns the section of a sale's waiting room.
 * @param {number} sale voucher id
 * @param {AbortSignal} signal
 */
export function waitingRoom(sale, signal) {
  const state = h("div", { class: "stack tight" });
  const actions = h("div", { class: "row wrap" });
  const title = t("等候室", "Waiting room");
  const path = `/ops/sales/${sale}/waiting-room`;
  let drawn = "";
  reload();
  // People come and go without the operator.
  repeatWhileVisible(REFRESH_EVERY_MS, signal, () => drawn !== "" && reload());
  return h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title), state, actions);

  async function reload() {
    try {
      show(await get(path, { signal }));
    } catch (error) {
      // The last known figures stay.
      if (!signal.aborted && drawn === "") fill(state, errorState(error, reload));
    }
  }

  /** @param {WaitingRoom} room */
  function show(room) {
    const looks = JSON.stringify(room);
    if (looks === drawn) return;
    const isSwitched = drawn === "" || JSON.parse(drawn).perSecond !== room.perSecond;
    drawn = looks;
    const isOn = room.perSecond > 0;
    fill(state, isOn ? summary(room)
      : h("p", { class: "quiet" }, t("未开启。开启后，买家须先排队，每秒只放行设定的人数，人再多页面也不卡。", "Off. With a waiting room, buyers queue and are admitted at a steady rate, so that a crowd does not slow the sale down.")));
    // Buttons stay in place while pressed.
    if (!isSwitched) return;
    fill(actions, button(isOn ? t("修改等候室", "Change the waiting room") : t("开启等候室", "Turn on the waiting room"), () => void edit(room), { icon: "people" }),
      isOn && button(t("关闭等候室", "Turn off the waiting room"), remove, { look: ["danger"] }));
  }

  /** @param {WaitingRoom} now */
  async function edit(now) {
    const rate = field(t("每秒放行人数", "People admitted per second"), "input", { type: "number", step: 1, min: 1, max: 10_000, value: now.perSecond || DEFAULT_PER_SECOND, required: true });
    const time = field(t("放行后的购买时间（秒）", "Seconds to buy once admitted"), "input", { type: "number", step: 1, min: 30, max: 1_800, value: now.admissionSeconds, required: true });
    await formSheet(t("等候室", "Waiting room"), [
      { field: rate, names: ["每秒放行人数", "perSecond"] }, { field: time, names: ["购买时间", "admissionSeconds"] },
    ], t("保存", "Save"), async () => {
      await put({ perSecond: numberValue(rate.input) ?? 0, admissionSeconds: numberValue(time.input) });
      showToast(t("等候室设置已保存", "Waiting room saved"));
      return true;
    }, { before: [h("p", { class: "quiet" }, t("开抢前一小时起可以排队。开抢前到的人随机排序，之后按先后。", "People join from an hour before the sale. Places before the opening are drawn; later ones follow in order of arrival."))] });
  }

  async function remove() {
    const isSure = await confirmAction(t("关闭等候室？", "Turn off the waiting room?"), t("正在排队的人会失去位置，所有人都可以直接抢购。", "Everybody in the queue loses the place, and everybody can buy at once."), t("关闭等候室", "Turn off the waiting room"), { danger: true });
    if (!isSure) return;
    await put({ perSecond: 0 });
    showToast(t("等候室已关闭", "Waiting room turned off"));
  }

  /** @param {{perSecond: number, admissionSeconds?: number}} body */
  async function put(body) {
    const { data } = await call("PUT", path, { body });
    show(data);
  }
}

/** @param {WaitingRoom} room */
function summary({ perSecond, admissionSeconds, waiting, admitted }) {
  return [
    h("div", { class: "row wrap" }, chip(t("已开启", "On"), "good"),
      h("span", { class: "number" }, t(`每秒放行 ${perSecond} 人，${admissionSeconds} 秒内购买`, `${perSecond} admitted per second, ${admissionSeconds} s to buy`))),
    h("p", { class: "number" }, t(`${waiting.toLocaleString()} 人在排队，已放行 ${admitted.toLocaleString()} 人次`, `${waiting.toLocaleString()} waiting, ${admitted.toLocaleString()} admitted so far`)),
  ];
}
