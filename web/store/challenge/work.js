// A proof of work, found by a worker: needs no sight and no hand, only some seconds.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";

/**
 * @param {NonNullable<import("./kinds.js").Challenge["work"]>} work
 * @param {(answer: import("./kinds.js").Answer) => Promise<void>} submit
 * @param {AbortSignal} signal
 * @returns {import("./kinds.js").View}
 */
export function workView({ salt, bits }, submit, signal) {
  const label = t("正在计算，通常几秒钟就好…", "Computing; this usually takes some seconds…");
  const bar = h("progress", { class: "challenge-progress", max: 1, value: 0, "aria-label": label });
  const text = h("p", { role: "status", tabindex: "-1" }, label);
  return { root: h("div", { class: "stack" }, text, bar), start };

  function start() {
    // The button that chose this kind is gone.
    text.focus();
    const worker = new Worker(new URL("./work-worker.js", import.meta.url), { type: "module" });
    signal.addEventListener("abort", () => worker.terminate());
    worker.addEventListener("message", ({ data }) => {
      // The share of proofs found by now: the end is a matter of chance.
      if (data.tried !== undefined) bar.value = 1 - Math.exp(-data.tried / 2 ** bits);
      if (data.number === undefined) return;
      worker.terminate();
      bar.value = 1;
      submit({ work: data.number });
    });
    worker.addEventListener("error", () => {
      text.textContent = t("这台设备无法计算，请换一种方式。", "This device cannot compute it; choose another way.");
      bar.hidden = true;
    });
    worker.postMessage({ salt, bits });
  }
}
