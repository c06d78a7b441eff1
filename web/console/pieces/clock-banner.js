// The banner of a mall whose clock is unsure: what the machine shows, and a button to confirm it.

import { call } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { onLanguageChange, t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { showToast } from "../../parts/toast.js";
import { latestMetrics, metricsStreamState, onMetrics } from "../live-metrics.js";

/** @typedef {import("../live-metrics.js").Clock} Clock */

/** Creates the banner, shown while the mall's clock is unsure. */
export function clockBanner() {
  const shown = h("strong", { class: "mono" });
  const banner = h("section", { class: "clock-banner notice bad", hidden: true });
  /** @type {string | undefined} the doubt in words */
  let said;
  onMetrics(show);
  onLanguageChange(() => {
    said = undefined;
    show();
  });
  return banner;

  function show() {
    const clock = metricsStreamState() === "connecting" ? undefined : latestMetrics()?.clock;
    banner.hidden = clock?.state !== "unsure";
    if (!clock || banner.hidden) return void (said = undefined);
    // The time alone changes every second: the rest stays, so that the button keeps its focus.
    shown.textContent = clock.time.replace("T", " ");
    const text = doubtText(clock);
    if (said === text) return;
    said = text;
    banner.setAttribute("aria-label", t("时钟不可信", "The clock is unsure"));
    fill(banner, icon("clock"),
      h("div", { class: "grow" },
        h("p", { role: "alert" }, text, " ", t("抢购和签到暂停，其余照常；时间校准后自动恢复。", "Claims and sign-ins wait, everything else works; once the clock is set right they go on by themselves.")),
        h("p", null, t("本机时间：", "This machine shows "), shown)),
      clock.doubt !== "before-release" && button(t("时间正确，恢复抢购", "The time is right"), confirm));
  }

  async function confirm() {
    // The time on the screen is the one that is confirmed.
    await call("POST", "/ops/clock/confirm", { body: { timeMs: latestMetrics()?.clock.timeMs } });
    banner.hidden = true;
    showToast(t("时间已确认，抢购和签到已恢复", "Time confirmed; claims and sign-ins go on"));
  }
}

/** @param {Clock} clock */
function doubtText({ doubt, mallTime }) {
  const last = mallTime.slice(0, 16).replace("T", " ");
  switch (doubt) {
    case "behind": return t(`本机的时钟落后：商城已经走到${last}。`, `The machine's clock is behind: the mall's time is ${last} already.`);
    case "ahead": return t(`本机的时钟可能快了：商城上一次可信的时间约为${last}。`, `The machine's clock may be ahead: the mall's last sure time is about ${last}.`);
    default: return t("本机的时钟早于mallbox本身的日期，不可能正确，请先校准。", "The machine's clock is earlier than mallbox itself and cannot be right; set it first.");
  }
}
