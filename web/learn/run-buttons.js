// Buttons that start runs. They stay in place while a job runs, so that they keep the focus.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { icon } from "../parts/icons.js";
import { showToast } from "../parts/toast.js";
import { isRunning, missingPrograms, onLadderChange, run } from "./ladder.js";
import { KeyRefused, ProgramsMissing } from "./server.js";

/**
 * @param {string} text
 * @param {() => import("./server.js").Order} order what is run
 * @param {boolean} isMain
 * @param {AbortSignal} signal
 */
export function runButton(text, order, isMain, signal) {
  const button = h("button", { type: "button", class: isMain ? "button main" : "button", onclick: press }, icon("play"), h("span", null, text));
  const update = () => button.setAttribute("aria-disabled", String(isRunning() || missingPrograms().length > 0));

  async function press() {
    if (isRunning()) showToast(t("正在运行，等它结束或者取消。", "A run is going on: wait for its end, or cancel it."));
    else if (missingPrograms().length > 0) showToast(missingText(missingPrograms()), { bad: true });
    else await run(order()).catch((error) => showToast(errorText(error), { bad: true }));
  }

  update();
  onLadderChange(update, signal);
  return button;
}

/** @param {string[]} programs */
export function missingText(programs) {
  return t(`没有安装${programs.join("、")}`, `Not installed: ${programs.join(", ")}`);
}

/** @param {unknown} error */
export function errorText(error) {
  if (error instanceof ProgramsMissing) return missingText(error.programs);
  if (error instanceof KeyRefused) return t("密钥不对：请打开mallbox learn打印的地址。", "Wrong key: open the address that mallbox learn printed.");
  return t("mallbox learn没有应答。", "mallbox learn does not respond.");
}
