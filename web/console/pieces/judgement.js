// The judgement of a sale for operators: what happens to claims that look automated, and the present attack.

import { call, get } from "../../core/api.js";
import { fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button, linkButton } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { errorState } from "../../parts/empty-state.js";
import { showToast } from "../../parts/toast.js";
import { attackView } from "./attack.js";
import { formSheet } from "./form.js";

/** @typedef {"off" | "observe" | "challenge" | "refuse"} Mode */

/** @type {Mode[]} */
const MODES = ["off", "observe", "challenge", "refuse"];

/**
 * Returns the section of a sale's judgement.
 * @param {number} sale voucher id
 * @param {AbortSignal} signal
 */
export function judgement(sale, signal) {
  const state = h("div", { class: "stack tight" });
  const actions = h("div", { class: "row wrap" });
  const attack = h("div", { class: "stack" });
  const title = t("风控", "Judgement");
  const path = `/ops/sales/${sale}/judgement`;
  const nextSignal = signalSequence(signal);
  reload();
  return h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title), state, actions, attack);

  async function reload() {
    try {
      show((await get(path, { signal })).mode);
    } catch (error) {
      if (!signal.aborted) fill(state, errorState(error, reload));
    }
  }

  /** @param {Mode} mode */
  function show(mode) {
    const viewSignal = nextSignal();
    const isOn = mode !== "off";
    fill(state, isOn && h("div", { class: "row wrap" }, chip(modeText(mode), "good")), h("p", { class: isOn ? "" : "quiet" }, modeHelp(mode)));
    fill(actions, button(isOn ? t("修改风控", "Change the judgement") : t("开启风控", "Turn on the judgement"), () => void edit(mode), { icon: "shield" }),
      linkButton(t("抢购记录", "Attempts"), `#/sale/${sale}/attempts`, { icon: "list" }),
      linkButton(t("风控规则", "Rules"), `#/judgement?sale=${sale}`, { icon: "gear" }));
    fill(attack, isOn && attackView(sale, viewSignal));
  }

  /** @param {Mode} now */
  async function edit(now) {
    const options = MODES.map((mode) => {
      const help = h("p", { class: "quiet small guard-sight", id: `judgement-${mode}` }, modeHelp(mode));
      const box = h("input", { type: "radio", name: "judgement-mode", value: mode, checked: mode === now, "aria-describedby": help.id });
      return { mode, box, root: h("div", null, h("label", { class: "row" }, box, h("span", null, modeText(mode))), help) };
    });
    const modes = h("fieldset", { class: "stack" }, h("legend", { class: "quiet small" }, t("疑似脚本的抢购", "Attempts that look automated")), options.map(({ root }) => root));
    await formSheet(t("风控", "Judgement"), [], t("保存", "Save"), async () => {
      const mode = options.find(({ box }) => box.checked)?.mode ?? now;
      const { data } = await call("PUT", path, { body: { mode } });
      show(data.mode);
      showToast(t("风控已保存", "Judgement saved"));
      return true;
    }, { inside: [modes] });
  }
}

/** @param {Mode} mode */
function modeText(mode) {
  switch (mode) {
    case "off": return t("关闭", "Off");
    case "observe": return t("只记录", "Log only");
    case "challenge": return t("再次验证", "Ask for a second check");
    case "refuse": return t("拒绝", "Refuse");
  }
}

/** @param {Mode} mode */
function modeHelp(mode) {
  switch (mode) {
    case "off": return t("不打分，也不记录。开启后，每次抢购按规则打分，看得出有多少像是脚本。", "No scores and no log. With a judgement, rules give each attempt a score, which shows how many look automated.");
    case "observe": return t("给每次抢购打分并记录，不拦截任何人。适合先看几天。", "Each attempt gets a score in the log, and nobody is stopped. Begin with this.");
    case "challenge": return t("疑似脚本的须再通过一次验证。需要开启防护，否则只记录。", "Who looks automated has to pass a second check. Needs a guard; without one, attempts are only logged.");
    case "refuse": return t("疑似脚本的直接拒绝。误判的人也会抢不到，请先预览规则。", "Attempts that look automated are refused, including those of people taken for scripts: preview the rules first.");
  }
}
