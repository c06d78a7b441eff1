// The counter's first screen: staff sell a voucher to a walk-in customer.

import { call, read } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { newRequestId } from "../../core/request-id.js";
import { button } from "../../parts/button.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { icon } from "../../parts/icons.js";
import { formatYuan } from "../../parts/price.js";
import { qrCode } from "../../parts/qr-code.js";
import { skeletons } from "../../parts/skeleton.js";
import { currentTill } from "../pieces/cash-till.js";
import { formSheet } from "../pieces/form.js";
import { heading } from "../pieces/heading.js";
import { InDoubtError } from "../pieces/in-doubt-error.js";
import { printButton } from "../pieces/printer.js";
import { isRedemptionInDoubt } from "../pieces/redemption.js";
import { methodField } from "../pieces/till.js";

/**
 * An item of `GET /ops/vouchers`.
 * @typedef {{id: number, title: string, subTitle: string, shopName?: string, payValue: number, status: number,
 * sale?: {state: string, left?: number}}} Voucher
 */
/**
 * Response of `POST /staff/sales`.
 * @typedef {{order: import("../pieces/order-columns.js").Order, soldBefore: boolean,
 * receipt: {code: string, qr: import("../../parts/qr-code.js").Qr}}} Sold
 */

const ON_SHELF = 1;
/** Pages of vouchers read, 20 a page: the newest come first. */
const PAGES_MAX = 10;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title, restoreScroll }) {
  title(t("售券", "Sell"));
  const result = h("div", { role: "status" });
  const search = field(t("查找券或店铺", "Find a voucher or shop"), "input", { type: "search", autocomplete: "off" });
  const list = h("div", { class: "stack" }, skeletons(4, "4.5rem"));
  root.append(heading(t("售券", "Sell")), result, h("div", { class: "stack" }, search.root, list));
  /** @type {Voucher[]} */
  let all = [];
  search.input.addEventListener("input", show);
  load();

  async function load() {
    try {
      all = await sellable(signal);
      if (!signal.aborted) show();
      restoreScroll();
    } catch (error) {
      if (!signal.aborted) fill(list, errorState(error, load));
    }
  }

  function show() {
    const wanted = search.input.value.trim().toLowerCase();
    const shown = all.filter(({ title, shopName = "" }) => `${title} ${shopName}`.toLowerCase().includes(wanted));
    fill(list, shown.length === 0 ? emptyState("ticket", t("没有可售的券。", "No voucher to sell."))
      : h("ul", { class: "sell-list" }, shown.map((voucher) => h("li", null, card(voucher)))));
  }

  /** @param {Voucher} voucher */
  function card(voucher) {
    const { title, shopName, payValue, sale } = voucher;
    return h("button", { type: "button", class: "card pad sell-card", onclick: () => askSale(voucher, showSold) },
      h("strong", null, title), h("span", { class: "quiet small" }, shopName),
      h("span", { class: "row apart" }, h("span", { class: "sell-price" }, formatYuan(payValue)),
        sale?.left !== undefined && h("span", { class: "small" }, t(`余 ${sale.left}`, `${sale.left} left`))));
  }

  /** @param {Sold} sold */
  function showSold({ order, receipt, soldBefore }) {
    if (signal.aborted) return;
    fill(result, h("section", { class: "card pad sell-receipt", "aria-label": t("券码", "Receipt") },
      h("h2", { class: "row" }, icon("check"), soldBefore ? t("之前已售出", "Sold before") : t("已售出", "Sold")),
      h("p", null, order.title, " · ", formatYuan(order.payValue)),
      qrCode(receipt.qr, t("券的二维码", "QR code of the voucher")),
      h("p", { class: "mono sell-code" }, receipt.code),
      h("p", { class: "quiet small" }, t("订单 ", "Order "), h("span", { class: "mono" }, order.id)),
      h("div", { class: "row wrap" }, printButton(order.id), button(t("用浏览器打印", "Print from the browser"), () => print(), { icon: "print" }),
        button(t("下一位", "Next customer"), next, { look: ["main"] }))));
    scrollTo(0, 0);
    void load();
  }

  function next() {
    fill(result);
    search.input.value = "";
    show();
    search.input.focus();
  }
}

/**
 * Returns the vouchers that can be sold now, the newest first.
 * @param {AbortSignal} signal
 */
async function sellable(signal) {
  /** @type {Voucher[]} */
  const all = [];
  for (let current = 1, isLast = false; !isLast && current <= PAGES_MAX; current += 1) {
    const page = await read("/ops/vouchers", { query: { current }, signal });
    all.push(...page.data);
    isLast = page.data.length === 0 || all.length >= (page.total ?? 0);
  }
  return all.filter(({ status, sale }) => status === ON_SHELF && (!sale || sale.state === "OPEN"));
}

/**
 * Asks for the money, and sells. Repeatable while in doubt: nothing is sold twice.
 * @param {Voucher} voucher
 * @param {(sold: Sold) => void} onSold
 */
function askSale({ id, title, payValue }, onSold) {
  const sum = formatYuan(payValue);
  const method = methodField();
  const requestId = newRequestId();
  return formSheet(t(`售出“${title}”`, `Sell ${title}`), [method], t(`已收 ${sum}`, `${sum} received`), async () => {
    const body = { voucherId: id, amount: payValue, method: method.field.input.value, till: currentTill(), requestId };
    try {
      onSold((await call("POST", "/staff/sales", { body })).data);
    } catch (error) {
      if (!isRedemptionInDoubt(error)) throw error;
      throw new InDoubtError(error, t("无法确认是否已售出。请再按一次，不会重复售出。要放弃时先看“今天”：订单已付款就交付券，或请管理员处理；没有付款才把钱退给顾客，10分钟后订单自动取消。",
        "The result is unknown. Press again: nothing is sold twice. To give up, look under Today first: if the order is paid there, hand over the voucher or call an operator. Return the money only if it is not; an unpaid order is cancelled after 10 minutes."));
    }
  }, { before: [h("p", null, t(`先收下 ${sum}，再登记。`, `Take ${sum} first, then record the payment.`))] });
}
