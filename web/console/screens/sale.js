// A flash sale for operators: terms, stock, ledger and actions.

import { get } from "../../core/api.js";
import { getCached, setCached } from "../../core/cache.js";
import { repeatWhileVisible, fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { screenHeader } from "../../parts/screen-header.js";
import { linkButton } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { icon } from "../../parts/icons.js";
import { meter } from "../../parts/meter.js";
import { skeletons } from "../../parts/skeleton.js";
import { metricsStreamState, latestMetrics, onMetrics } from "../live-metrics.js";
import { saleStateChip, listingStatusChip } from "../labels.js";
import { claimLimit } from "../pieces/claim-limit.js";
import { guard } from "../pieces/guard.js";
import { judgement } from "../pieces/judgement.js";
import { ledger } from "../pieces/ledger.js";
import { stockText } from "../pieces/sale-stocks.js";
import { timestamp } from "../pieces/timestamp.js";
import { thresholds } from "../pieces/thresholds.js";
import { unitsPerUser } from "../pieces/units-per-user.js";
import { waitingList } from "../pieces/waiting-list.js";
import { waitingRoom } from "../pieces/waiting-room.js";
import { waves } from "../pieces/waves.js";
import { saleActions } from "../pieces/sale-actions.js";
import { keepFocus } from "../../parts/keep-focus.js";

/** @typedef {import("./sales.js").Sale & {books: import("../pieces/ledger.js").Ledger, balances?: boolean, findings?: import("../pieces/ledger.js").Finding[]}} SaleDetails */

/** Refresh interval of the ledger; the stock comes with the live metrics. */
const REFRESH_EVERY_MS = 5_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title, restoreScroll }) {
  title(t("秒杀", "Sale"));
  const id = Number(params.id);
  const container = h("div", { class: "stack" }, skeletons(3, "9rem"));
  const actions = h("div", { class: "row wrap" });
  const name = h("span");
  const state = h("span");
  const bar = meter(t("剩余库存", "Units left"));
  const stockLabel = h("p", { class: "stock-left number" });
  const terms = h("dl", { class: "terms" });
  const staleNotice = h("div", { class: "books-age", role: "status" });
  const ledgerPlace = h("div", { class: "stack" });
  const redrawActs = keepFocus(actions);
  const cacheKey = `console sale ${id}`;
  const nextSignal = signalSequence(signal);
  let isReading = false;
  /** Server time of the last read, if known. */
  let readAt = "";
  /** The pair of states for which the sale was last reloaded. */
  let reloadedFor = "";
  /** @type {SaleDetails | undefined} */
  let sale;
  root.append(screenHeader(t("秒杀", "Sale"), { home: "/sales" }), container);
  const copy = /** @type {SaleDetails | undefined} */ (getCached(cacheKey));
  if (copy) show(copy);
  refresh();
  repeatWhileVisible(REFRESH_EVERY_MS, signal, refresh);
  onMetrics(showStock, signal);

  /** Reloads unless a request is running. */
  function refresh() {
    if (!isReading) reload();
  }

  /** Discards earlier requests, which may predate an action. */
  async function reload() {
    const requestSignal = nextSignal();
    isReading = true;
    try {
      const fresh = await get(`/ops/sales/${id}`, { signal: requestSignal });
      if (requestSignal.aborted) return;
      isReading = false;
      setCached(cacheKey, fresh);
      readAt = latestMetrics()?.time ?? "";
      showStale(false);
      show(fresh);
    } catch (error) {
      if (requestSignal.aborted) return;
      isReading = false;
      if (sale) showStale(true);
      else fill(container, errorState(error, reload));
    }
  }

  /** @param {boolean} isStale whether the last reload failed */
  function showStale(isStale) {
    ledgerPlace.classList.toggle("old", isStale);
    if (isStale === staleNotice.hasChildNodes()) return;
    fill(staleNotice, isStale && h("p", { class: "notice bad" }, icon("offline"), readAt
      ? t(`暂时无法读取账目，以下是 ${readAt.replace("T", " ")} 的。`, `The ledger is unavailable; the data shown is of ${readAt.replace("T", " ")}.`)
      : t("暂时无法读取账目，以下是之前的数据。", "The ledger is unavailable; the data shown is older.")));
  }

  /** @param {SaleDetails} fresh */
  function show(fresh) {
    // Screen readers announce changed content only.
    if (JSON.stringify(fresh) === JSON.stringify(sale)) return;
    const isFirst = !sale;
    const isChanged = sale?.state !== fresh.state || sale.paused !== fresh.paused;
    sale = fresh;
    title(sale.title);
    name.textContent = sale.title;
    if (isFirst) renderSections();
    // Buttons stay in place while pressed.
    if (isChanged) redrawActs(() => fill(actions, saleActions(() => /** @type {SaleDetails} */ (sale), reload)));
    fill(state, saleStateChip(sale.state, sale.paused));
    fill(terms, termRows(sale));
    fill(ledgerPlace, ledger(sale));
    showStock();
    restoreScroll();
  }

  function renderSections() {
    fill(container,
      h("section", { class: "card pad stack", "aria-label": t("概况", "Overview") },
        h("div", { class: "row wrap" }, h("h2", { class: "grow" }, name), state), bar.root, stockLabel, actions),
      h("section", { class: "card pad stack", "aria-label": t("账目", "Ledger") }, h("h2", null, t("账目", "Ledger")), staleNotice, ledgerPlace),
      sale?.initial !== undefined && waves(id, signal).root,
      sale?.initial !== undefined && guard(id, signal),
      judgement(id, signal),
      thresholds(id, signal),
      unitsPerUser(id, signal),
      claimLimit(id, signal),
      sale?.initial !== undefined && waitingRoom(id, signal),
      sale?.initial !== undefined && waitingList(id, signal),
      h("section", { class: "card pad stack", "aria-label": t("条款", "Terms") }, h("h2", null, t("条款", "Terms")), terms,
        h("div", { class: "row wrap" },
          linkButton(t("这场的订单", "Orders of this sale"), `#/orders?voucher=${id}`, { icon: "order" }),
          sale && linkButton(t("店铺和券", "Shop and vouchers"), `#/shop/${sale.shopId}`, { icon: "shop" }))));
  }

  /** Shows the stock from the live metrics while connected, otherwise from the last reload. */
  function showStock() {
    if (!sale) return;
    const live = metricsStreamState() === "on" ? latestMetrics()?.sales?.find(({ voucherId }) => voucherId === id) : undefined;
    const stock = live ?? {
      stock: sale.left ?? -1, units: sale.initial === undefined ? -1 : sale.initial + sale.added, taken: sale.taken, state: sale.state,
    };
    bar.root.hidden = stock.stock < 0;
    bar.show(stock.stock, stock.units, stockText(stock));
    stockLabel.textContent = stockText(stock);
    if (live) reloadOnChange(live.state);
  }

  /**
   * Reloads once when the live state differs, for example after selling out; the states may differ for
   * longer.
   * @param {string} state
   */
  function reloadOnChange(state) {
    if (state === sale?.state) reloadedFor = "";
    else if (!isReading && reloadedFor !== `${sale?.state} ${state}`) {
      reloadedFor = `${sale?.state} ${state}`;
      reload();
    }
  }
}

/** @param {SaleDetails} sale */
function termRows({ voucherId, beginTime, endTime, payWithinSeconds, minLevel, status, initial, added }) {
  return [
    [t("券编号", "Voucher"), voucherId],
    [t("开始", "Begins"), timestamp(beginTime)],
    [t("结束", "Ends"), timestamp(endTime)],
    [t("支付时限", "Payment time limit"), t(`${payWithinSeconds / 60} 分钟`, `${payWithinSeconds / 60} min`)],
    [t("会员等级", "Minimum level"), minLevel > 0 ? minLevel : t("不限", "any")],
    [t("券", "Voucher status"), listingStatusChip(status)],
    [t("初始与追加", "Initial and added"), initial === undefined ? t("不限量", "unlimited") : `${initial.toLocaleString()} ${added < 0 ? "−" : "+"} ${Math.abs(added).toLocaleString()}`],
  ].map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)));
}
