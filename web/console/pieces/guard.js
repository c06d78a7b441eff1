// The guard of a sale for operators: whether buyers have to solve a challenge, and which.

import { call, get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { errorState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { confirmAction } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { formSheet } from "./form.js";
import { numberValue } from "./number-value.js";

/** @typedef {"picture" | "slider" | "work" | "service"} Kind */
/**
 * @typedef {object} Guard
 * @property {Kind[]} kinds
 * @property {number} workBits
 * @property {number} passSeconds
 * @property {number} jitterSeconds
 * @property {{name: string, available: boolean}} [service] the external challenge service of the mall
 */

/** @type {Kind[]} */
const KINDS = ["picture", "slider", "work", "service"];

/**
 * Returns the section of a sale's guard.
 * @param {number} sale voucher id
 * @param {AbortSignal} signal
 */
export function guard(sale, signal) {
  const state = h("div", { class: "stack tight" });
  const actions = h("div", { class: "row wrap" });
  const title = t("防护", "Guard");
  reload();
  return h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title), state, actions);

  async function reload() {
    try {
      show(await get(`/ops/sales/${sale}/guard`, { signal }));
    } catch (error) {
      if (!signal.aborted) fill(state, errorState(error, reload));
    }
  }

  /** @param {Guard} now */
  function show(now) {
    const isOn = now.kinds.length > 0;
    fill(state, isOn ? summary(now)
      : h("p", { class: "quiet" }, t("未开启。开启后，买家须先通过验证才能抢购，脚本更难抢走库存。", "Off. With a guard, buyers take a short check before they buy, which makes it harder for scripts.")));
    fill(actions, button(isOn ? t("修改防护", "Change the guard") : t("开启防护", "Turn on the guard"), () => void edit(now), { icon: "shield" }),
      isOn && button(t("关闭防护", "Turn off the guard"), remove, { look: ["danger"] }));
  }

  /** @param {Guard} now */
  async function edit(now) {
    // Kinds of the guard keep their order.
    const all = [...now.kinds, ...KINDS.filter((kind) => !now.kinds.includes(kind))].filter((kind) => kind !== "service" || now.service);
    const preferred = field(t("首选方式", "Preferred check"), "select", { onchange: showPreview }, ...all.map((kind) => h("option", { value: kind }, kindText(kind))));
    const preview = h("p", { class: "quiet small", role: "status" });
    const options = all.map((kind) => {
      const sight = h("p", { class: "quiet small guard-sight", id: `guard-${kind}` }, sightText(kind));
      const box = h("input", { type: "checkbox", value: kind, checked: now.kinds.length === 0 || now.kinds.includes(kind), "aria-describedby": sight.id });
      return { kind, box, root: h("div", null, h("label", { class: "row" }, box, h("span", null, kindText(kind))), sight) };
    });
    const others = h("fieldset", { class: "stack tight" }, h("legend", { class: "quiet small" }, t("买家还可以选择", "Buyers may choose instead")),
      options.map(({ root }) => root));
    showPreview();
    const workBits = number(t("计算量（位，每加一位翻倍）", "Work in bits; each bit doubles it"), now.workBits, 8, 26);
    const passSeconds = number(t("通行码有效期（秒）", "Lifetime of a pass in seconds"), now.passSeconds, 10, 600);
    const jitterSeconds = number(t("开抢前最多提前几秒发放", "Seconds before the begin from which passes are issued"), now.jitterSeconds, 0, 30);
    await formSheet(t("抢购防护", "Guard of the sale"), [
      { field: preferred, names: ["验证方式", "challenges"] },
      { field: workBits, names: ["工作量位数", "workBits"] },
      { field: passSeconds, names: ["通行码有效期", "passSeconds"] },
      { field: jitterSeconds, names: ["提前发放的时间", "jitterSeconds"] },
    ], t("保存", "Save"), async () => {
      const first = /** @type {Kind} */ (preferred.input.value);
      const kinds = [first, ...options.filter(({ kind, box }) => kind !== first && box.checked).map(({ kind }) => kind)];
      const body = { kinds, workBits: numberValue(workBits.input), passSeconds: numberValue(passSeconds.input), jitterSeconds: numberValue(jitterSeconds.input) };
      const { data } = await call("PUT", `/ops/sales/${sale}/guard`, { body });
      showToast(t("防护已保存", "Guard saved"));
      show(data);
      return true;
    }, {
      before: [h("p", { class: "quiet" }, t("“自动计算”不需要看图，请保留给看不清图片的人。自助终端没有键盘，不会要求输入图中的字。",
        "Keep “Computed by the device” for people who cannot see the pictures. Kiosks have no keyboard, and never ask for characters."))],
      inside: [preferred.root, preview, others, workBits.root, passSeconds.root, jitterSeconds.root],
    });

    /** The preferred kind is always there. */
    function showPreview() {
      const first = /** @type {Kind} */ (preferred.input.value);
      preview.textContent = t(`买家先看到：${sightText(first)}`, `Buyers see first: ${sightText(first)}`);
      for (const { kind, root } of options) root.hidden = kind === first;
    }
  }

  async function remove() {
    const isSure = await confirmAction(t("关闭防护？", "Turn off the guard?"), t("关闭后一秒内，任何人无需验证即可抢购。", "Within a second, anybody can buy without a check."), t("关闭防护", "Turn off the guard"), { danger: true });
    if (!isSure) return;
    const { data } = await call("PUT", `/ops/sales/${sale}/guard`, { body: { kinds: [] } });
    showToast(t("防护已关闭", "Guard turned off"));
    show(data);
  }
}

/**
 * @param {string} label
 * @param {number} value
 * @param {number} min
 * @param {number} max
 */
function number(label, value, min, max) {
  return field(label, "input", { type: "number", step: 1, min, max, value, required: true });
}

/** @param {Guard} now */
function summary({ kinds, passSeconds, jitterSeconds, service }) {
  return [
    h("div", { class: "row wrap" }, chip(t("已开启", "On"), "good"),
      h("ol", { class: "row wrap", "aria-label": t("验证方式，首选在前", "Checks in order of preference") }, kinds.map((kind) => h("li", null, chip(kindText(kind)))))),
    h("p", { class: "quiet small" }, t(`通行码 ${passSeconds} 秒内有效，开抢前最多提前 ${jitterSeconds} 秒发放。`,
      `A pass lives ${passSeconds} s, and is issued up to ${jitterSeconds} s before the begin.`)),
    kinds.includes("service") && !service?.available && h("div", { class: "notice bad" }, h("p", null, service
      ? t(`外部验证服务${service.name}暂时不可用，正在用其他方式代替。`, `The external service ${service.name} is away: other checks take its place.`)
      : t("商城没有接入外部验证服务，正在用其他方式代替。", "The mall has no external challenge service: other checks take its place."))),
  ];
}

/**
 * Returns what buyers see of a kind.
 * @param {Kind} kind
 */
function sightText(kind) {
  switch (kind) {
    case "picture": return t("一张写着 4 个汉字的图片和一个输入框（英文界面为 5 个字母或数字）。", "A picture of 5 letters and digits, or 4 Chinese characters in Chinese, with a field to type them.");
    case "slider": return t("一张有缺口的图片，用手指、鼠标或键盘把拼图移到缺口。专门写的脚本能通过。", "A picture with a gap, and a piece to move there by finger, mouse or keys. A script written for it passes.");
    case "work": return t("一条进度条，几秒内自动完成，不用看图也不用动手。脚本都能通过。", "A progress bar that fills within seconds, without looking or typing. Every script passes.");
    case "service": return t("由外部服务显示的人机验证。服务不可用时，自动换成其他方式。", "A CAPTCHA shown by the external service. While the service is away, another check takes its place.");
  }
}

/** @param {Kind} kind */
function kindText(kind) {
  switch (kind) {
    case "picture": return t("输入图中的字", "Type characters of a picture");
    case "slider": return t("拖动拼图", "Move a puzzle piece");
    case "work": return t("自动计算", "Computed by the device");
    case "service": return t("外部人机验证", "CAPTCHA of an external service");
  }
}
