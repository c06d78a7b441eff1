// What an operator does to a sale. What cannot be undone is asked about first.

import { call } from "../../core/api.js";
import { isInDoubt } from "../../core/doubt.js";
import { t } from "../../core/language.js";
import { newRequestId } from "../../core/request-id.js";
import { h } from "../../core/dom.js";
import { button } from "../../parts/button.js";
import { field } from "../../parts/field.js";
import { confirmAction } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { formSheet } from "./form.js";
import { numberIn } from "./number-in.js";
import { timeField, timeIn, zoneText } from "./time-field.js";
import { Unsure } from "./unsure.js";

/** @typedef {import("../screens/sales.js").Sale} Sale */

/**
 * The buttons that fit its state.
 * @param {() => Sale} sale as it is when one of them is pressed
 * @param {() => unknown} changed after one of them did something
 */
export function saleActs(sale, changed) {
  const { state, paused, initial } = sale();
  const { voucherId } = sale();
  const isOver = state === "ENDED";
  return [
    !isOver && (paused
      ? button(t("恢复", "Resume"), () => act("resume", t("秒杀已恢复", "The sale goes on")), { icon: "play", look: ["main"] })
      : button(t("暂停", "Pause"), () => act("pause", t("秒杀已暂停", "The sale is on hold")), { icon: "pause" })),
    initial !== undefined && !isOver && button(t("增减库存", "Change the stock"), () => restock(sale(), changed), { icon: "plus" }),
    button(t("修改时间", "Change the times"), () => changeWindow(sale(), changed), { icon: "clock" }),
    !isOver && button(t("立即结束", "End it now"), end, { icon: "stop", look: ["danger"] }),
  ];

  /**
   * @param {string} what
   * @param {string} done
   */
  async function act(what, done) {
    await call("POST", `/ops/sales/${voucherId}/${what}`);
    showToast(done);
    await changed();
  }

  async function end() {
    const isSure = await confirmAction(t("立即结束这场秒杀？", "End this sale now?"),
      t("之后没有人能再抢，结束时间改为现在。已有的订单不受影响。", "Nobody can buy after that; its end becomes now. Orders there are stay."), t("结束秒杀", "End the sale"), { danger: true });
    if (isSure) await act("end", t("秒杀已结束", "The sale is over"));
  }
}

/** What was asked for and got no answer, by sale and number: under the same name it is not done twice. @type {Map<number, Map<number, string>>} */
const unanswered = new Map();

/**
 * @param {Sale} sale
 * @param {() => unknown} changed
 */
function restock({ voucherId, left = 0 }, changed) {
  const lost = unanswered.get(voucherId) ?? new Map();
  const before = [...lost.keys()];
  const add = field(t("增加多少（负数为收回）", "How many to add; negative takes away"), "input", { type: "number", step: 1, required: true, placeholder: "100", value: before.at(-1) });
  return formSheet(t("增减库存", "Change the stock"), [{ field: add, names: ["库存", "add", "stock"] }], t("确定", "Change it"), async () => {
    const by = numberIn(add.input) ?? 0;
    if (by === 0) {
      add.wrong(t("0 不改变什么", "0 changes nothing"));
      return false;
    }
    const request = lost.get(by) ?? newRequestId();
    const data = await call("POST", `/ops/sales/${voucherId}/stock`, { body: { add: by, requestId: request } }).then((answer) => answer.data, (error) => {
      if (!isInDoubt(error)) throw error;
      unanswered.set(voucherId, lost.set(by, request));
      throw new Unsure(error, unansweredText(by));
    });
    lost.delete(by);
    showToast(data.by < 0 ? t(`收回了 ${-data.by} 份`, `Units taken away: ${-data.by}`) : t(`增加了 ${data.by} 份`, `Units added: ${data.by}`));
    await changed();
    return true;
  }, { before: [...before.map((by) => h("p", { class: "notice bad" }, unansweredText(by))), h("p", { class: "quiet" }, t(`现在剩 ${left} 份。最多收回没人抢到的。`, `${left} are left now. Only what nobody holds can be taken away.`))] });
}

/** @param {number} by */
function unansweredText(by) {
  return t(`不确定 ${by} 份有没有加上。再按一次没关系：数目不变就不会加两次。`,
    `It is not certain that ${by} were added. Pressing again is safe: the same number is not added twice.`);
}

/**
 * @param {Sale} sale
 * @param {() => unknown} changed
 */
async function changeWindow({ voucherId, beginTime, endTime }, changed) {
  const begin = timeField(t("开始时间", "Begins"), beginTime);
  const end = timeField(t("结束时间", "Ends"), endTime);
  const zone = h("p", { class: "quiet small" });
  zoneText().then((text) => (zone.textContent = text), () => {});
  await formSheet(t("修改时间", "Change the times"), [
    { field: begin, names: ["开始时间", "beginTime"] },
    { field: end, names: ["结束时间", "endTime"] },
  ], t("保存", "Save"), async () => {
    await call("PUT", `/ops/sales/${voucherId}`, { body: { beginTime: timeIn(begin.input), endTime: timeIn(end.input) } });
    showToast(t("时间已修改", "The times are changed"));
    await changed();
  }, { before: [zone] });
}
