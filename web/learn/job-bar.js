// The job that runs: how far it is, and how to cancel it.

import { fill, h } from "../core/dom.js";
import { t } from "../core/language.js";
import { button } from "../parts/button.js";
import { cancel, currentJob, currentTrouble, isLoaded, onLadderChange, rungOf, timeLeftMs } from "./ladder.js";
import { titleOf } from "./prose.js";
import { errorText } from "./run-buttons.js";
import { KeyRefused, ServerGone } from "./server.js";
import { stepName, triggerName } from "./words.js";

/** @typedef {import("./server.js").Job} Job */

const MINUTE_MS = 60_000;

/** @param {Job} job */
function jobLine({ done, total, doing }) {
  if (!doing) return t("正在启动Redis和MariaDB", "Starting Redis and MariaDB");
  const [place, what] = "rung" in doing ? rungStep(doing) : [doing.way, stepName(doing.words)];
  return t(`${done}/${total}，${place}：${what}`, `${done} of ${total}, ${place}: ${what}`);
}

/**
 * @param {import("./server.js").RungStep} step
 * @returns {[string, string]}
 */
function rungStep({ rung: id, trigger }) {
  const rung = rungOf(id);
  const title = rung ? titleOf(rung) : "";
  return [t(`第${id}级（${title}）`, `rung ${id} (${title})`), trigger === null ? t("测速", "measuring rates") : triggerName(trigger)];
}

/**
 * Returns how far a job is, or how it ended.
 * @param {Job} job
 */
export function stateText(job) {
  switch (job.state) {
    case "running": return jobLine(job);
    case "done": return t("运行完毕。", "The run is over.");
    case "cancelled": return t("已取消。", "The run was cancelled.");
    case "failed": return t("运行失败。", "The run failed.");
  }
}

/** Returns the time left in minutes, as far as it is known. */
export function timeLeftText() {
  const leftMs = timeLeftMs();
  if (leftMs === null) return "";
  const minutes = Math.round(leftMs / MINUTE_MS);
  return minutes < 1 ? t("不到1分钟", "less than a minute left") : t(`约${minutes}分钟`, minutes === 1 ? "about a minute left" : `about ${minutes} minutes left`);
}

/**
 * Shows the running job in a bar, and the end of a failed one.
 * @param {HTMLElement} bar
 */
export function followJob(bar) {
  const line = h("p", { class: "grow small" });
  const progress = h("progress", { max: 1, value: 0 });
  const stop = h("span");
  let wasRunning = false;

  function update() {
    const job = currentJob();
    const trouble = currentTrouble();
    const isRunning = job?.state === "running" && trouble === "";
    const hasFailed = job?.state === "failed" || trouble !== "";
    bar.hidden = !isLoaded() || !(isRunning || hasFailed);
    bar.classList.toggle("bad", hasFailed);
    bar.setAttribute("aria-label", t("当前的运行", "The current run"));
    progress.hidden = !isRunning;
    if (trouble !== "") {
      line.textContent = errorText(trouble === "refused" ? new KeyRefused() : new ServerGone());
    } else if (job) {
      progress.max = Math.max(job.total, 1);
      progress.value = job.done;
      progress.setAttribute("aria-label", t("运行进度", "Progress of the run"));
      line.textContent = job.state === "failed"
        ? t(`运行失败：${job.error ?? ""}`, `The run failed: ${job.error ?? ""}`)
        : [jobLine(job), timeLeftText()].filter((text) => text !== "").join(t("，还要", ", "));
    }
    if (isRunning !== wasRunning) fill(stop, isRunning && button(t("取消", "Cancel"), cancel, { icon: "stop" }));
    wasRunning = isRunning;
  }

  fill(bar, line, progress, stop);
  onLadderChange(update);
  update();
  return () => {
    wasRunning = false;
    update();
  };
}
