// Actions of operators on a sale. Irreversible actions need a confirmation.

import { call, callWithRetries } from "../../core/api.js";
import { isInDoubt } from "../../core/in-doubt.js";
import { t } from "../../core/language.js";
import { newRequestId } from "../../core/request-id.js";
import { h } from "../../core/dom.js";
import { button } from "../../parts/button.js";
import { field } from "../../parts/field.js";
import { confirmAction } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { formSheet } from "./form.js";
import { numberValue } from "./number-value.js";
import { timeField, timeValue, timeZoneText } from "./time-field.js";
import { InDoubtError } from "./in-doubt-error.js";

/** @typedef {import("../screens/sales.js").Sale} Sale */

/**
 * Returns the buttons for the sale's state.
 * @param {() => Sale} sale returns the current sale
 * @param {() => unknown} onChange called after an action
 */
export function saleActions(sale, onChange) {
  const { state, paused, initial } = sale();
  const { voucherId } = sale();
  const isOver = state === "ENDED";
  return [
    !isOver && (paused
      ? button(t("恢复", "Resume"), () => runAction("resume", t("秒杀已恢复", "Sale resumed")), { icon: "play", look: ["main"] })
      : button(t("暂停", "Pause"), () => runAction("pause", t("秒杀已暂停", "Sale paused")), { icon: "pause" })),
    initial !== undefined && !isOver && button(t("增减库存", "Adjust stock"), () => restock(sale(), onChange), { icon: "plus" }),
    button(t("修改时间", "Change times"), () => changeWindow(sale(), onChange), { icon: "clock" }),
    !isOver && button(t("立即结束", "End now"), end, { icon: "stop", look: ["danger"] }),
  ];

  /**
   * @param {string} what
   * @param {string} done
   */
  async function runAction(what, done) {
    // Idempotent, and refused with 503 while other changes of sales hold the lease.
    await callWithRetries("POST", `/ops/sales/${voucherId}/${what}`);
    showToast(done);
    await onChange();
  }

  async function end() {
    const isConfirmed = await confirmAction(t("立即结束这场秒杀？", "End this sale now?"),
      t("之后没有人能再抢，结束时间改为现在。已有的订单不受影响。", "No further claims are possible, and the end time becomes now. Existing orders stay."), t("结束秒杀", "End sale"), { danger: true });
    if (isConfirmed) await runAction("end", t("秒杀已结束", "Sale ended"));
  }
}

/**
 * Stock changes in doubt by sale and amount, with their idempotency keys.
 * @type {Map<number, Map<number, string>>}
 */
const unanswered = new Map();

/**
 * @param {Sale} sale
 * @param {() => unknown} onChange
 */
function restock({ voucherId, left = 0 }, onChange) {
  const lost = unanswered.get(voucherId) ?? new Map();
  const before = [...lost.keys()];
  const add = field(t("增加多少（负数为收回）", "Units to add (negative to remove)"), "input", { type: "number", step: 1, required: true, placeholder: "100", value: before.at(-1) });
  return formSheet(t("增减库存", "Adjust stock"), [{ field: add, names: ["库存", "add", "stock"] }], t("确定", "Apply"), async () => {
    const by = numberValue(add.input) ?? 0;
    if (by === 0) {
      add.wrong(t("0 不改变什么", "Enter a number other than 0"));
      return false;
    }
    const request = lost.get(by) ?? newRequestId();
    const data = await call("POST", `/ops/sales/${voucherId}/stock`, { body: { add: by, requestId: request } }).then((answer) => answer.data, (error) => {
      if (!isInDoubt(error)) throw error;
      unanswered.set(voucherId, lost.set(by, request));
      throw new InDoubtError(error, inDoubtText(by));
    });
    lost.delete(by);
    showToast(data.by < 0 ? t(`收回了 ${-data.by} 份`, `Units removed: ${-data.by}`) : t(`增加了 ${data.by} 份`, `Units added: ${data.by}`));
    await onChange();
    return true;
  }, { before: [...before.map((by) => h("p", { class: "notice bad" }, inDoubtText(by))), h("p", { class: "quiet" }, t(`现在剩 ${left} 份。只能收回未被抢到的。`, `${left} left now. Only unclaimed units can be removed.`))] });
}

/** @param {number} by */
function inDoubtText(by) {
  return t(`无法确认 ${by} 份是否已增加。可以再按一次：数量不变就不会重复增加。`,
    `The result of adding ${by} is unknown. Pressing again is safe: the same number is not added twice.`);
}

/**
 * @param {Sale} sale
 * @param {() => unknown} onChange
 */
async function changeWindow({ voucherId, beginTime, endTime }, onChange) {
  const begin = timeField(t("开始时间", "Begins"), beginTime);
  const end = timeField(t("结束时间", "Ends"), endTime);
  const zone = h("p", { class: "quiet small" });
  timeZoneText().then((text) => (zone.textContent = text), () => {});
  await formSheet(t("修改时间", "Change times"), [
    { field: begin, names: ["开始时间", "beginTime"] },
    { field: end, names: ["结束时间", "endTime"] },
  ], t("保存", "Save"), async () => {
    await call("PUT", `/ops/sales/${voucherId}`, { body: { beginTime: timeValue(begin.input), endTime: timeValue(end.input) } });
    showToast(t("时间已修改", "Times changed"));
    await onChange();
  }, { before: [zone] });
}
