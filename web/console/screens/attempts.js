// The decision log of a sale: attempts to claim with their scores, newest first, and a replay of them.

import { get } from "../../core/api.js";
import { getCached, setCached } from "../../core/cache.js";
import { fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button, linkButton } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { screenHeader } from "../../parts/screen-header.js";
import { skeletons } from "../../parts/skeleton.js";
import { outcomeChip, outcomeGroup, signalText, signalValueText } from "../attempt-names.js";
import { mallTime } from "../pieces/mall-time.js";
import { replay } from "../pieces/replay.js";
import { table } from "../pieces/table.js";

/**
 * An item of `GET /ops/sales/{id}/attempts`.
 * @typedef {object} Attempt
 * @property {number} number
 * @property {number} at milliseconds since 1970
 * @property {number} userId
 * @property {string} [address] hash
 * @property {string} [device] hash
 * @property {string} outcome
 * @property {number} score
 * @property {{signal: string, value: number, points: number}[]} signals `points`: by the present rules; 0 or more
 */
/** @typedef {{attempts: Attempt[], next?: number}} Page newest first; without `next` it is the last */

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  const id = params.id;
  const name = t("抢购记录", "Attempts");
  const path = `/ops/sales/${id}/attempts`;
  const cacheKey = `console attempts ${id}`;
  const nextSignal = signalSequence(signal);
  const container = h("div", { class: "stack" }, skeletons(4, "5rem"));
  title(name);
  root.append(
    screenHeader(name, { home: `/sale/${id}`, actions: [button(t("刷新", "Refresh"), refresh)] }),
    h("p", { class: "quiet intro" }, t("开启风控的秒杀，每次抢购的结果和得分保留 7 天。信号旁的分数按现在的规则计算；地址和设备只显示指纹。",
      "With a judgement, the outcome and the score of each attempt are kept for 7 days. Points of signals follow the present rules; addresses and devices are shown as hashes.")),
    h("div", { class: "row wrap intro" }, linkButton(t(`秒杀 ${id}`, `Sale ${id}`), `#/sale/${id}`, { icon: "bolt" }), linkButton(t("风控规则", "Rules"), `#/judgement?sale=${id}`, { icon: "gear" })),
    container);
  // Without the limit, the log shows scores alone.
  const [time, limit] = await Promise.all([mallTime(), get(`/ops/sales/${id}/attack`, { signal }).then((/** @type {{limit: number}} */ attack) => attack.limit, () => undefined)]);
  const player = replay(time, signal);
  const list = h("div", { class: "listing" });
  const more = h("div", { class: "row wrap" });
  /** The loaded attempts, newest first. @type {Page} */
  let loaded = { attempts: [] };
  const copy = /** @type {Page | undefined} */ (getCached(cacheKey));
  if (copy) show(copy);
  await refresh();

  /** Loads the newest page. Loaded attempts stay if the page continues them. */
  async function refresh() {
    const requestSignal = nextSignal();
    try {
      /** @type {Page} */
      const fresh = await get(path, { signal: requestSignal });
      if (requestSignal.aborted) return;
      const newest = loaded.attempts[0]?.number;
      const isContinued = newest !== undefined && fresh.attempts.some(({ number }) => number === newest);
      show(isContinued ? { ...loaded, attempts: [...fresh.attempts.filter(({ number }) => number > newest), ...loaded.attempts] } : fresh);
    } catch (error) {
      if (requestSignal.aborted) return;
      if (loaded.attempts.length > 0) throw error;
      fill(container, errorState(error, refresh));
    }
  }

  async function loadOlder() {
    const requestSignal = nextSignal();
    /** @type {Page} */
    const older = await get(path, { query: { before: loaded.next }, signal: requestSignal });
    if (requestSignal.aborted) return;
    show({ attempts: [...loaded.attempts, ...older.attempts], next: older.next });
    // The button of the last page is gone.
    if (loaded.next === undefined) list.querySelector("a")?.focus({ preventScroll: true });
  }

  /** @param {Page} page */
  function show(page) {
    loaded = page;
    setCached(cacheKey, page);
    const { attempts, next } = page;
    if (attempts.length === 0) return fill(container, emptyState("list", t("还没有抢购记录。", "No attempts yet.")));
    player.set(attempts, limit);
    fill(list, table(t("抢购记录", "Attempts"), columns(time, limit), attempts));
    if (next === undefined || !more.hasChildNodes()) fill(more, next !== undefined && button(t("更早的", "Older"), loadOlder, { icon: "down" }));
    if (!player.root.isConnected) {
      fill(container, section(t("回放", "Replay"), player.root), list, more);
      restoreScroll();
    }
  }
}

/**
 * @param {string} title
 * @param {Node} content
 */
function section(title, content) {
  return h("section", { class: "card pad stack", "aria-label": title }, h("h2", null, title), content);
}

/**
 * @param {(at: number) => string} time
 * @param {number} [limit] score from which an attempt looks automated
 * @returns {import("../pieces/table.js").Column<Attempt>[]}
 */
function columns(time, limit = Infinity) {
  return [
    { title: t("时间", "Time"), cell: ({ at }) => h("time", { datetime: new Date(at).toISOString(), class: "exactly" }, time(at)) },
    { title: t("用户", "User"), cell: ({ userId }) => h("a", { class: "number", href: `#/users?id=${userId}` }, userId) },
    { title: t("地址和设备", "Address, device"), cell: ({ address, device }) => (address || device
      ? h("span", { class: "stack tight" }, hash(address), hash(device)) : "—") },
    { title: t("结果", "Outcome"), cell: ({ outcome, score }) => h("span", { class: "stack tight outcome" }, outcomeChip(outcome),
      score >= limit && outcomeGroup(outcome) !== "stopped" && chip(t("疑似脚本", "Looks automated"), "sale")) },
    { title: t("分数", "Score"), look: "number", cell: ({ score }) => score },
    { title: t("信号", "Signals"), look: "wide", cell: ({ signals }) => signalList(signals) },
  ];
}

/** @param {string | undefined} text */
function hash(text) {
  return text && h("code", { class: "mono small exactly" }, text);
}

/**
 * Signals that gave points are listed; the others follow in one line.
 * @param {Attempt["signals"]} signals
 */
function signalList(signals) {
  if (signals.length === 0) return "—";
  const scoring = signals.filter(({ points }) => points !== 0);
  const others = signals.filter(({ points }) => points === 0).map(valueText);
  return h("div", { class: "stack tight small" },
    scoring.length > 0 && h("ul", { class: "stack tight" }, scoring.map((signal) =>
      h("li", { class: "row wrap signal" }, h("span", null, valueText(signal)), h("strong", { class: "number" }, t(`+${signal.points} 分`, `+${signal.points} points`))))),
    others.length > 0 && h("p", { class: "quiet" }, others.join(t("；", "; "))));
}

/** @param {Attempt["signals"][number]} signal */
function valueText({ signal, value }) {
  return t(`${signalText(signal)}：${signalValueText(signal, value)}`, `${signalText(signal)}: ${signalValueText(signal, value)}`);
}
