// The vouchers of a shop: all of them, off the shelf too; changed, put on the shelf, taken off.

import { call, read } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { button, linkButton } from "../../parts/button.js";
import { failure } from "../../parts/empty.js";
import { bargain } from "../../parts/price.js";
import { skeletons } from "../../parts/skeleton.js";
import { say } from "../../parts/toast.js";
import { saleState, shelfStatus } from "../names.js";
import { formSheet } from "./form.js";
import { wasMadeText } from "./made-once.js";
import { makeVoucher } from "./new-voucher.js";
import { samePlace } from "../../parts/same-place.js";
import { table } from "./table.js";
import { voucherFields } from "./voucher-fields.js";

/**
 * As `GET /ops/vouchers` tells it.
 * @typedef {import("./voucher-fields.js").VoucherText & {id: number, shopId: number, type: number, status: number,
 * sale?: {state: string, paused: boolean, initial?: number, added: number, left?: number}}} Voucher
 */

const [ON_SHELF, OFF_SHELF] = [1, 2];

/**
 * @param {{id: number}} shop
 * @param {import("../../core/router.js").Showing} showing
 */
export function vouchersOf(shop, { signal, settled }) {
  const place = h("div", { class: "listing" }, skeletons(3, "2.75rem"));
  const redraw = samePlace(place);
  look();
  return h("section", { class: "stack", "aria-label": both("优惠券", "Vouchers") },
    h("div", { class: "row apart wrap" }, h("h2", null, both("优惠券", "Vouchers")), h("div", { class: "row wrap" },
      button(both("新增普通券", "New voucher"), add, { icon: "plus" }),
      linkButton(both("新建秒杀", "New sale"), `#/sales/new?shop=${shop.id}`, { icon: "bolt" }))), place);

  async function look() {
    try {
      /** @type {Voucher[]} */
      const all = [];
      for (let current = 1, total = 1; all.length < total; current += 1) {
        const page = await read("/ops/vouchers", { query: { shopId: shop.id, current }, signal });
        all.push(...page.data);
        total = page.data.length > 0 ? page.total ?? 0 : 0;
      }
      if (signal.aborted) return;
      redraw(() => fill(place, all.length > 0 ? table(both("优惠券", "Vouchers"), columns(), all)
        : h("p", { class: "pad quiet" }, both("还没有券。", "No voucher yet."))));
      settled();
    } catch (error) {
      if (!signal.aborted) fill(place, failure(error, look));
    }
  }

  /** @returns {import("./table.js").Column<Voucher>[]} */
  function columns() {
    return [
      { title: both("券", "Voucher"), look: "wide", cell: ({ title, subTitle }) => [h("strong", null, title), h("span", { class: "small quiet detail" }, subTitle)] },
      { title: both("编号", "Id"), look: "number", cell: ({ id }) => id },
      { title: both("价格", "Price"), cell: ({ payValue, actualValue }) => bargain(payValue, actualValue) },
      { title: both("货架", "Shelf"), cell: ({ status }) => shelfStatus(status) },
      { title: both("秒杀", "Sale"), cell: ({ id, sale }) => (sale ? h("a", { class: "row", href: `#/sale/${id}` }, saleState(sale.state, sale.paused), leftOf(sale)) : "—") },
      { title: both("操作", "Do"), look: "acts", cell: (voucher) => [
        button(both("修改", "Edit"), () => edit(voucher)),
        voucher.status === ON_SHELF
          ? button(both("下架", "Take off"), () => shelve(voucher, OFF_SHELF, both("已下架", "It is off the shelf")))
          : button(both("上架", "Put on"), () => shelve(voucher, ON_SHELF, both("已上架", "It is on the shelf"))),
      ] },
    ];
  }

  function add() {
    const { fields, values } = voucherFields();
    return formSheet(both("新增普通券", "New voucher"), fields, both("创建", "Create it"), async () => {
      const text = values();
      // What is no amount was said beside it.
      if (!text) return false;
      const { wasMade } = await makeVoucher({ ...text, shopId: shop.id });
      say(wasMade ? wasMadeText() : both("券已创建", "The voucher is created"));
      await look();
      return true;
    });
  }

  /** @param {Voucher} voucher */
  function edit(voucher) {
    const { fields, values } = voucherFields(voucher);
    return formSheet(both("修改券", "Edit the voucher"), fields, both("保存", "Save"), async () => {
      const text = values();
      if (!text) return false;
      await call("PUT", `/voucher/${voucher.id}`, { body: text });
      say(both("券已保存", "The voucher is saved"));
      await look();
      return true;
    });
  }

  /**
   * @param {Voucher} voucher
   * @param {number} status
   * @param {string} done
   */
  async function shelve({ id }, status, done) {
    await call("PUT", `/voucher/${id}`, { body: { status } });
    say(done);
    await look();
  }
}

/** @param {NonNullable<Voucher["sale"]>} sale */
function leftOf({ initial, added, left }) {
  return initial === undefined ? both("不限量", "unlimited") : both(`剩 ${left} / ${initial + added}`, `${left} of ${initial + added} left`);
}
