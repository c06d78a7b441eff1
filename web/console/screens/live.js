// The dashboard of live metrics.

import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { chip } from "../../parts/chip.js";
import { icon } from "../../parts/icons.js";
import { skeletons } from "../../parts/skeleton.js";
import { sparkline } from "../../parts/sparkline.js";
import { metricsHistory, metricsStreamState, latestMetrics, onMetrics } from "../live-metrics.js";
import { durabilityText, dependencyText, paymentText, refusalText } from "../labels.js";
import { heading } from "../pieces/heading.js";
import { saleStocks } from "../pieces/sale-stocks.js";

/** @typedef {import("../live-metrics.js").Metrics} Figures */
/** @typedef {import("../../parts/sparkline.js").Line} Line */

/** A new chart covers one minute and grows with the history. */
const AT_LEAST = 60;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title, restoreScroll }) {
  title(t("实时数据", "Live metrics"));
  const state = h("div", { class: "row wrap small" });
  const troubles = h("div", { class: "stack", role: "status" });
  const recovery = h("div", { class: "recovery" });
  const tiles = metricTiles();
  const sales = saleStocks();
  const refusals = h("div");
  const parts = h("ul", { class: "parts" });
  root.append(
    heading(t("实时数据", "Live metrics"), state), troubles, recovery,
    h("div", { class: "tiles" }, tiles.map(({ root: tile }) => tile)),
    h("div", { class: "live-columns" },
      section(t("正在进行的秒杀", "Open sales"), sales.root),
      h("div", { class: "stack" },
        section(t("拒绝的抢购（启动以来）", "Refused claims since start"), refusals),
        section(t("依赖", "Dependencies"), parts))));
  fill(parts, skeletons(3, "1.5rem").map((section) => h("li", null, section)));
  onMetrics(show, signal);

  function show() {
    const now = latestMetrics();
    if (!now) return;
    const isOld = metricsStreamState() !== "on";
    fill(state, isOld && chip(t("数据已停在", "Stale since"), "bad"), h("time", { datetime: now.time }, now.time.replace("T", " ")),
      chip(now.backend === "embedded" ? t("内置存储", "embedded") : t("生产存储", "production")),
      chip(t(`持久性：${durabilityText(now.durability)}`, `durability: ${durabilityText(now.durability)}`)),
      now.payment && chip(t(`支付：${paymentText(now.payment)}`, `payment: ${paymentText(now.payment)}`), now.payment === "sandbox" ? "long sale" : "long"));
    root.classList.toggle("old", isOld);
    showTroubles(troubles, now.troubles);
    if (!recovery.hasChildNodes() && now.recovery) recovery.append(recoveryNotice(now.recovery));
    for (const tile of tiles) tile.show(now);
    sales.show(now.sales);
    fill(refusals, refusalList(now.refused));
    fill(parts, (now.parts ?? []).map(dependencyItem));
    restoreScroll();
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
 * Updated only on changes, so that screen readers do not repeat the list every second.
 * @param {HTMLElement} place
 * @param {string[]} troubles
 */
function showTroubles(place, troubles) {
  const said = troubles.join("\n");
  if (place.dataset.said === said) return;
  place.dataset.said = said;
  fill(place, troubles.map((trouble) => h("p", { class: "notice bad" }, trouble)));
}

/** @param {import("../live-metrics.js").Recovery} recovery */
function recoveryNotice({ lastTime = "", tookMs, commits, claims, databaseChecked }) {
  const last = lastTime.replace("T", " ");
  return h("p", { class: "notice" }, icon("warn"), h("span", null,
    t("上次运行没有正常结束", "The last run did not end in order"), last && t(`（最后记录的时间是${last}）`, ` (last stored time ${last})`), t("：", ": "),
    t(`恢复用了${tookMs}毫秒，重读了订单日志的${commits}次提交，${claims}次抢购重新排队，`, `the recovery took ${tookMs} ms, read ${commits} commits of the order log again and queued ${claims} claims again; `),
    databaseChecked ? t("检查了数据库。", "the database was checked.") : t("数据库较大，没有检查。", "the database is large and was not checked.")));
}

function metricTiles() {
  return [
    tile(t("抢购 / 秒", "Claims per second"), perSecond, [
      { name: t("成功", "accepted"), look: "accent", of: ({ lately }) => lately && perSecondRate(lately.accepted, lately.millis) },
      { name: t("拒绝", "refused"), look: "sale", of: ({ lately }) => lately && perSecondRate(sum(lately.refused), lately.millis) },
    ], (now) => [t(`共成功 ${now.accepted}`, `${now.accepted} accepted in total`), t(`拒绝 ${sum(now.refused)}`, `${sum(now.refused)} refused`)]),
    tile(t("抢购耗时", "Claim latency"), millis, [
      { name: "p50", look: "accent", of: ({ lately }) => lately?.claimMillis?.p50 },
      { name: "p90", look: "quiet", of: ({ lately }) => lately?.claimMillis?.p90 },
      { name: "p99", look: "sale", of: ({ lately }) => lately?.claimMillis?.p99 },
    ], () => [t("没有抢购时没有数据", "no data without claims")]),
    tile(t("写入订单", "Orders to be written"), perSecond, [
      { name: t("每秒写入", "written per second"), look: "good", of: ({ lately }) => lately && perSecondRate(lately.persisted, lately.millis) },
      { name: t("待写入", "pending"), look: "accent", of: ({ backlog }) => backlog },
    ], (now) => [t(`共写入 ${now.persisted}`, `${now.persisted} written in total`)]),
    tile(t("今日访问", "Visits today"), plain, [
      { name: t("访客", "visitors"), look: "accent", of: ({ visits }) => visits?.uv },
      { name: t("浏览", "views"), look: "quiet", of: ({ visits }) => visits?.pv },
    ], () => [t("店铺、笔记、秒杀和类型页", "pages of shops, notes, sales and categories")]),
    tile(t("请求 / 秒", "Requests per second"), perSecond, [
      { name: t("请求", "requests"), look: "accent", of: ({ lately }) => lately && perSecondRate(lately.requests, lately.millis) },
    ], (now) => [t(`此刻 ${now.connections} 个连接`, `connections now: ${now.connections}`), t(`共 ${now.requests}`, `${now.requests} in total`)]),
    tile(t("内存", "Memory"), megabytes, [
      { name: t("占用", "in use"), look: "accent", of: ({ memoryBytes }) => memoryBytes && memoryBytes / 2 ** 20 },
    ], () => [t("进程占用", "of the process")]),
  ];
}

/**
 * A tile with charts: current values and recent history.
 * @param {string} title
 * @param {(value: number) => string} format
 * @param {{name: string, look: Line["look"], of: (figures: Figures) => number | undefined}[]} lines
 * @param {(now: Figures) => string[]} notes
 */
function tile(title, format, lines, notes) {
  const numbers = h("dl", { class: "tile-numbers" });
  const chart = sparkline(t(`${title}，最近五分钟内`, `${title}, last five minutes`), format);
  const foot = h("p", { class: "quiet small cut" });
  const root = h("section", { class: "card tile", "aria-label": title }, h("h2", { class: "small quiet" }, title), numbers, chart.root, foot);
  return {
    root,
    /** @param {Figures} now */
    show: (now) => {
      fill(numbers, lines.map(({ name, look, of }) => {
        const value = of(now);
        return h("div", null, h("dd", { class: `number ${look}` }, value === undefined ? "—" : format(value)),
          h("dt", { class: lines.length > 1 ? "small quiet" : "unseen" }, name));
      }));
      const heard = metricsHistory();
      chart.show(lines.map(({ name, look, of }) => ({ name, look, values: heard.map(of) })), Math.max(heard.length, AT_LEAST));
      foot.textContent = notes(now).join(" · ");
    },
  };
}

/** @param {Record<string, number>} refused */
function refusalList(refused) {
  const rows = Object.entries(refused).filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one);
  if (rows.length === 0) return h("p", { class: "quiet" }, t("还没有。", "None yet."));
  return h("dl", { class: "counts" }, rows.map(([code, count]) =>
    h("div", null, h("dt", null, refusalText(code)), h("dd", { class: "number" }, count.toLocaleString()))));
}

/** @param {import("../live-metrics.js").Dependency} part */
function dependencyItem({ name, ok, durability, troubles = [] }) {
  return h("li", { class: "row" },
    chip(ok ? t("正常", "OK") : t("故障", "failing"), ok ? "good" : "bad"),
    h("span", { class: "grow" }, dependencyText(name), troubles.map((trouble) => h("span", { class: "small part-trouble" }, trouble))),
    durability && h("span", { class: "quiet small" }, durabilityText(durability)));
}

/** @param {Record<string, number>} counts */
function sum(counts) {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}

/**
 * @param {number} count
 * @param {number} ms
 */
function perSecondRate(count, ms) {
  return ms > 0 ? (count * 1000) / ms : 0;
}

/** @param {number} value */
const plain = (value) => value.toLocaleString();
/** @param {number} value */
const perSecond = (value) => (value < 10 && value % 1 ? value.toFixed(1) : Math.round(value).toLocaleString());
/** @param {number} value */
const millis = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
/** @param {number} value */
const megabytes = (value) => `${Math.round(value).toLocaleString()} MB`;
