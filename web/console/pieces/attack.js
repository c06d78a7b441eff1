// The last minutes of attempts to claim units of a sale, as judged: how many look automated, why, and from
// where.

import { get } from "../../core/api.js";
import { fill, h, repeatWhileVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { errorState } from "../../parts/empty-state.js";
import { icon } from "../../parts/icons.js";
import { outcomeText, signalText } from "../attempt-names.js";
import { attemptBars } from "./attempt-bars.js";
import { staleNotice } from "./stale-notice.js";
import { table } from "./table.js";

/**
 * The answer of `GET /ops/sales/{id}/attack`.
 * @typedef {object} Attack
 * @property {number} attempts
 * @property {number} suspicious attempts that look automated
 * @property {number} limit score from which an attempt looks automated
 * @property {boolean} isCut whether earlier attempts of the five minutes are left out
 * @property {number} lost attempts at all sales that the process could not log
 * @property {{outcome: string, attempts: number}[]} outcomes
 * @property {{signal: string, attempts: number}[]} signals
 * @property {Address[]} addresses
 * @property {import("./attempt-bars.js").Slot[]} timeline
 */
/**
 * @typedef {{address: string, attempts: number, users: number, accepted: number, suspicious: number}} Address
 * `address`: hash
 */

const REFRESH_EVERY_MS = 2_000;

/**
 * Returns the view of an attack, read again while visible.
 * @param {number} sale voucher id
 * @param {AbortSignal} signal ends the reading
 */
export function attackView(sale, signal) {
  const stale = h("div", { class: "attack-stale" });
  const place = h("div", { class: "stack" });
  const bars = attemptBars();
  let shown = "";
  let isReading = false;
  reload();
  repeatWhileVisible(REFRESH_EVERY_MS, signal, reload);
  return h("div", { class: "stack" }, stale, place);

  /** Reads unless a request is under way. */
  async function reload() {
    if (isReading) return;
    isReading = true;
    try {
      show(await get(`/ops/sales/${sale}/attack`, { signal }));
      fill(stale);
    } catch (error) {
      if (signal.aborted) return;
      if (shown === "") fill(place, errorState(error, reload));
      else if (!stale.hasChildNodes()) fill(stale, staleNotice(reload));
    } finally {
      isReading = false;
    }
  }

  /** @param {Attack} attack */
  function show(attack) {
    const fresh = JSON.stringify(attack);
    if (signal.aborted || fresh === shown) return;
    shown = fresh;
    bars.show(attack.timeline);
    fill(place, lossNotice(attack), totals(attack), attack.attempts > 0 && [
      bars.root,
      h("div", { class: "fields" },
        counts(t("结果", "Outcomes"), attack.outcomes.map(({ outcome, attempts }) => ({ name: outcomeText(outcome), attempts }))),
        counts(t("得分的信号", "Signals that gave points"), attack.signals.map((one) => ({ name: signalText(one.signal), attempts: one.attempts })))),
      attack.addresses.length > 0 && addressTable(attack.addresses),
    ].flat());
  }
}

/** @param {Attack} attack */
function lossNotice({ isCut, lost }) {
  return [
    lost > 0 && h("p", { class: "notice bad" }, icon("warn"), t(`商城的这个进程启动以来，有 ${lost.toLocaleString()} 次抢购没能记录下来（所有秒杀合计），实际数量更多。`,
      `This process of the mall could not log ${lost.toLocaleString()} attempts at all sales since its start: the counts are too low.`)),
    isCut && h("p", { class: "notice" }, icon("clock"), t("抢购太多，这里只统计最近的 10,000 次。", "There were more attempts: these are the last 10,000.")),
  ];
}

/** @param {Attack} attack */
function totals({ attempts, suspicious, limit }) {
  if (attempts === 0) return h("p", { class: "quiet" }, t("最近五分钟没有人抢购。", "No attempts in the last five minutes."));
  const share = Math.round((100 * suspicious) / attempts);
  return h("dl", { class: "tile-numbers" },
    h("div", null, h("dd", { class: "number accent" }, attempts.toLocaleString()), h("dt", { class: "small quiet" }, t("次抢购，最近五分钟", "attempts in five minutes"))),
    h("div", null, h("dd", { class: "number sale" }, `${suspicious.toLocaleString()} (${share}%)`), h("dt", { class: "small quiet" }, t(`次疑似脚本（${limit} 分及以上）`, `look automated (score ${limit} or more)`))));
}

/**
 * @param {string} title
 * @param {{name: string, attempts: number}[]} rows
 */
function counts(title, rows) {
  return h("div", { class: "stack tight" }, h("h3", null, title), rows.length === 0 ? h("p", { class: "quiet" }, t("没有", "None"))
    : h("dl", { class: "counts" }, rows.map(({ name, attempts }) => h("div", null, h("dt", null, name), h("dd", { class: "number" }, attempts.toLocaleString())))));
}

/** @param {Address[]} addresses */
function addressTable(addresses) {
  return h("div", { class: "stack tight" }, h("h3", null, t("抢购最多的地址", "Addresses with most attempts")),
    h("p", { class: "quiet small" }, t("只保存地址的指纹，不保存地址本身。", "The log keeps hashes of addresses, not the addresses.")),
    h("div", { class: "listing" }, table(t("抢购最多的地址", "Addresses with most attempts"), [
      { title: t("地址指纹", "Address hash"), cell: ({ address }) => h("code", { class: "mono hash" }, address) },
      { title: t("抢购", "Attempts"), look: "number", cell: ({ attempts }) => attempts.toLocaleString() },
      { title: t("用户", "Users"), look: "number", cell: ({ users }) => users.toLocaleString() },
      { title: t("抢到", "Got a unit"), look: "number", cell: ({ accepted }) => accepted.toLocaleString() },
      { title: t("疑似脚本", "Look automated"), look: "number", cell: ({ suspicious }) => suspicious.toLocaleString() },
    ], addresses)));
}
