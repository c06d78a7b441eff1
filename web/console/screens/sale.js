// One sale: its terms, its stock as it drains, its books, and what can be done to it.

import { get } from "../../core/api.js";
import { getCached, setCached } from "../../core/copies.js";
import { repeatWhileVisible, fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { screenHeader } from "../../parts/screen-header.js";
import { linkButton } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { icon } from "../../parts/icons.js";
import { meter } from "../../parts/meter.js";
import { skeletons } from "../../parts/skeleton.js";
import { isHearing, latest, onFigures } from "../figures.js";
import { saleState, shelfStatus } from "../names.js";
import { books } from "../pieces/books.js";
import { leftText } from "../pieces/drains.js";
import { exactly } from "../pieces/exactly.js";
import { saleActs } from "../pieces/sale-acts.js";
import { keepFocus } from "../../parts/keep-focus.js";

/** @typedef {import("./sales.js").Sale & {books: import("../pieces/books.js").Books, balances?: boolean, findings?: import("../pieces/books.js").Finding[]}} Account */

/** The books are read anew this often; the stock comes with the live figures. */
const BOOKS_EVERY_MS = 5_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title, restoreScroll }) {
  title(t("秒杀", "Sale"));
  const id = Number(params.id);
  const account = h("div", { class: "stack" }, skeletons(3, "9rem"));
  const acts = h("div", { class: "row wrap" });
  const name = h("span");
  const state = h("span");
  const bar = meter(t("剩余库存", "Units left"));
  const left = h("p", { class: "stock-left number" });
  const terms = h("dl", { class: "terms" });
  const age = h("div", { class: "books-age", role: "status" });
  const equation = h("div", { class: "stack" });
  const redrawActs = keepFocus(acts);
  const copyName = `console sale ${id}`;
  const reading = signalSequence(signal);
  let isReading = false;
  /** By the mall's clock, if it was known then. */
  let readAt = "";
  /** The difference between its account and the live figures that the account was read for. */
  let lookedInto = "";
  /** @type {Account | undefined} */
  let sale;
  root.append(screenHeader(t("秒杀", "Sale"), { home: "/sales" }), account);
  const copy = /** @type {Account | undefined} */ (getCached(copyName));
  if (copy) show(copy);
  look();
  repeatWhileVisible(BOOKS_EVERY_MS, signal, look);
  onFigures(showStock, signal);

  /** Unless it is read already. */
  function look() {
    if (!isReading) readAnew();
  }

  /** What was asked for before is of no use any more: it may be from before an action. */
  async function readAnew() {
    const mine = reading();
    isReading = true;
    try {
      const fresh = await get(`/ops/sales/${id}`, { signal: mine });
      if (mine.aborted) return;
      isReading = false;
      setCached(copyName, fresh);
      readAt = latest()?.time ?? "";
      sayAge(false);
      show(fresh);
    } catch (error) {
      if (mine.aborted) return;
      isReading = false;
      if (sale) sayAge(true);
      else fill(account, errorState(error, readAnew));
    }
  }

  /** @param {boolean} isOld whether the account could not be read any more */
  function sayAge(isOld) {
    equation.classList.toggle("old", isOld);
    if (isOld === age.hasChildNodes()) return;
    fill(age, isOld && h("p", { class: "notice bad" }, icon("offline"), readAt
      ? t(`现在读不到账目，下面是 ${readAt.replace("T", " ")} 的。`, `The books cannot be read now; these are of ${readAt.replace("T", " ")}.`)
      : t("现在读不到账目，下面是以前的。", "The books cannot be read now; these are from before.")));
  }

  /** @param {Account} fresh */
  function show(fresh) {
    // What has not changed is not read aloud again.
    if (JSON.stringify(fresh) === JSON.stringify(sale)) return;
    const isFirst = !sale;
    const isOther = sale?.state !== fresh.state || sale.paused !== fresh.paused;
    sale = fresh;
    title(sale.title);
    name.textContent = sale.title;
    if (isFirst) draw();
    // What is pressed now is not taken from under the finger.
    if (isOther) redrawActs(() => fill(acts, saleActs(() => /** @type {Account} */ (sale), readAnew)));
    fill(state, saleState(sale.state, sale.paused));
    fill(terms, termRows(sale));
    fill(equation, books(sale));
    showStock();
    restoreScroll();
  }

  function draw() {
    fill(account,
      h("section", { class: "card pad stack", "aria-label": t("概况", "At a glance") },
        h("div", { class: "row wrap" }, h("h2", { class: "grow" }, name), state), bar.root, left, acts),
      h("section", { class: "card pad stack", "aria-label": t("账目", "Books") }, h("h2", null, t("账目", "Books")), age, equation),
      h("section", { class: "card pad stack", "aria-label": t("条款", "Terms") }, h("h2", null, t("条款", "Terms")), terms,
        h("div", { class: "row wrap" },
          linkButton(t("这场的订单", "Its orders"), `#/orders?voucher=${id}`, { icon: "order" }),
          sale && linkButton(t("店铺和券", "Shop and vouchers"), `#/shop/${sale.shopId}`, { icon: "shop" }))));
  }

  /** From the live figures while it is on and they come in, from its account else. */
  function showStock() {
    if (!sale) return;
    const live = isHearing() === "on" ? latest()?.sales?.find(({ voucherId }) => voucherId === id) : undefined;
    const told = live ?? {
      stock: sale.left ?? -1, units: sale.initial === undefined ? -1 : sale.initial + sale.added, taken: sale.taken, state: sale.state,
    };
    bar.root.hidden = told.stock < 0;
    bar.show(told.stock, told.units, leftText(told));
    left.textContent = leftText(told);
    if (live) lookInto(live.state);
  }

  /**
   * It was sold out, or began: the account is old. Read once for that, as the two may differ for longer.
   * @param {string} state
   */
  function lookInto(state) {
    if (state === sale?.state) lookedInto = "";
    else if (!isReading && lookedInto !== `${sale?.state} ${state}`) {
      lookedInto = `${sale?.state} ${state}`;
      readAnew();
    }
  }
}

/** @param {Account} sale */
function termRows({ voucherId, beginTime, endTime, payWithinSeconds, minLevel, status, initial, added }) {
  return [
    [t("券编号", "Voucher"), voucherId],
    [t("开始", "Begins"), exactly(beginTime)],
    [t("结束", "Ends"), exactly(endTime)],
    [t("支付时限", "Time to pay"), t(`${payWithinSeconds / 60} 分钟`, `${payWithinSeconds / 60} min`)],
    [t("会员等级", "Level needed"), minLevel > 0 ? minLevel : t("不限", "any")],
    [t("券", "On the shelf"), shelfStatus(status)],
    [t("初始与追加", "Initial and added"), initial === undefined ? t("不限量", "unlimited") : `${initial.toLocaleString()} ${added < 0 ? "−" : "+"} ${Math.abs(added).toLocaleString()}`],
  ].map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)));
}
