// Timetable of a sale for operators: units released in waves.

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
import { timeField, timeValue, timeZoneText } from "./time-field.js";
import { timestamp } from "./timestamp.js";

/** @typedef {{number: number, time: string, units: number, releasedTime?: string}} Wave */
/** @typedef {{time: import("../../parts/field.js").Field<HTMLInputElement>, units: import("../../parts/field.js").Field<HTMLInputElement>, root: HTMLElement}} WaveRow */

/** Maximum number of waves to come. */
const WAVES_MAX = 50;
/** Empty rows in the form of a sale without waves to come. */
const EMPTY_ROWS = 2;

/**
 * Returns the section of a sale's timetable.
 * @param {number} sale voucher id
 * @param {AbortSignal} signal
 */
export function waves(sale, signal) {
  const list = h("div", null);
  const actions = h("div", { class: "row wrap" });
  const title = t("分批放货", "Waves");
  const root = h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title), list, actions);
  reload();
  return { root, reload };

  async function reload() {
    try {
      const timetable = await get(`/ops/sales/${sale}/waves`, { signal });
      show(timetable.waves);
    } catch (error) {
      if (!signal.aborted) fill(list, errorState(error, reload));
    }
  }

  /** @param {Wave[]} all */
  function show(all) {
    fill(list, all.length > 0 ? h("ol", { class: "waves" }, all.map(waveItem))
      : h("p", { class: "quiet" }, t("没有安排。库存会在设定的时刻自动增加。", "None scheduled. A wave adds units to the sale at its time.")));
    fill(actions, button(all.some(({ releasedTime }) => !releasedTime) ? t("修改安排", "Change the waves") : t("安排分批放货", "Schedule waves"),
      () => edit(all.filter(({ releasedTime }) => !releasedTime)), { icon: "clock" }));
  }

  /** @param {Wave[]} coming */
  async function edit(coming) {
    /** @type {WaveRow[]} */
    const rows = [];
    const place = h("div", { class: "stack" });
    const more = button(t("再加一批", "Add a wave"), () => addRow().time.input.focus(), { icon: "plus" });
    const zone = h("p", { class: "quiet small" });
    timeZoneText().then((text) => (zone.textContent = text), () => {});
    const first = addRow(coming[0]);
    for (const wave of coming.slice(1)) addRow(wave);
    while (rows.length < EMPTY_ROWS) addRow();
    await formSheet(t("安排分批放货", "Schedule waves"), [{ field: first.time, names: ["放货时间表", "waves"] }], t("保存", "Save"), async () => {
      const body = { waves: rows.filter(isFilled).map(({ time, units }) => ({ time: timeValue(time.input), units: numberValue(units.input) })) };
      const half = rows.find(({ time, units }) => isFilled({ time, units }) && (!time.input.value || !units.input.value));
      if (half) {
        (half.time.input.value ? half.units : half.time).wrong(t("请填写", "This field is required"));
        return false;
      }
      const { data } = await call("PUT", `/ops/sales/${sale}/waves`, { body });
      showToast(body.waves.length > 0 ? t("放货安排已保存", "Waves saved") : t("已取消后续放货", "Waves withdrawn"));
      show(data.waves);
      return true;
    }, { before: [zone, h("p", { class: "quiet" }, t("按时间先后填写；空行会忽略，全部清空即取消后续放货。已放出的批次不变。", "In order of time. Empty rows are ignored; clear all rows to withdraw the waves to come. Released waves stay."))], inside: [place, more] });

    /** @param {Wave} [wave] */
    function addRow(wave) {
      const number = rows.length + 1;
      const time = timeField(t(`第 ${number} 批的时间`, `Time of wave ${number}`), wave?.time);
      const units = field(t(`第 ${number} 批的份数`, `Units of wave ${number}`), "input", { type: "number", step: 1, min: 1, value: wave?.units });
      time.input.required = false;
      const row = { time, units, root: h("div", { class: "row wrap" }, time.root, units.root) };
      rows.push(row);
      place.append(row.root);
      more.hidden = rows.length >= WAVES_MAX;
      return row;
    }
  }
}

/** @param {Pick<WaveRow, "time" | "units">} row */
function isFilled({ time, units }) {
  return time.input.value !== "" || units.input.value !== "";
}

/** @param {Wave} wave */
function waveItem({ time, units, releasedTime }) {
  return h("li", { class: "row wrap" }, timestamp(time), h("span", { class: "number" }, t(`${units.toLocaleString()} 份`, `${units.toLocaleString()} units`)),
    releasedTime ? chip(t("已放出", "Released"), "good") : chip(t("待放出", "To come")));
}
