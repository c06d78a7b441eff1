// The vouchers of a shop, listed and unlisted: creating, editing, listing and unlisting.

import { call, read } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button, linkButton } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { priceWithDiscount } from "../../parts/price.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { saleStateChip, listingStatusChip } from "../labels.js";
import { formSheet } from "./form.js";
import { alreadyCreatedText } from "./create-once.js";
import { createVoucher } from "./new-voucher.js";
import { keepFocus } from "../../parts/keep-focus.js";
import { table } from "./table.js";
import { voucherFields } from "./voucher-fields.js";

/**
 * An item of `GET /ops/vouchers`.
 * @typedef {import("./voucher-fields.js").VoucherText & {id: number, shopId: number, type: number, status: number,
 * sale?: {state: string, paused: boolean, initial?: number, added: number, left?: number}}} Voucher
 */

const [ON_SHELF, OFF_SHELF] = [1, 2];

/**
 * @param {{id: number}} shop
 * @param {import("../../core/router.js").ScreenContext} context
 */
export function vouchersOf(shop, { signal, restoreScroll }) {
  const place = h("div", { class: "listing" }, skeletons(3, "2.75rem"));
  const redraw = keepFocus(place);
  reload();
  return h("section", { class: "stack", "aria-label": t("优惠券", "Vouchers") },
    h("div", { class: "row apart wrap" }, h("h2", null, t("优惠券", "Vouchers")), h("div", { class: "row wrap" },
      button(t("新增普通券", "New voucher"), addVoucher, { icon: "plus" }),
      linkButton(t("新建秒杀", "New sale"), `#/sales/new?shop=${shop.id}`, { icon: "bolt" }))), place);

  async function reload() {
    try {
      /** @type {Voucher[]} */
      const all = [];
      for (let current = 1, total = 1; all.length < total; current += 1) {
        const page = await read("/ops/vouchers", { query: { shopId: shop.id, current }, signal });
        all.push(...page.data);
        total = page.data.length > 0 ? page.total ?? 0 : 0;
      }
      if (signal.aborted) return;
      redraw(() => fill(place, all.length > 0 ? table(t("优惠券", "Vouchers"), columns(), all)
        : h("p", { class: "pad quiet" }, t("还没有券。", "No vouchers yet."))));
      restoreScroll();
    } catch (error) {
      if (!signal.aborted) fill(place, errorState(error, reload));
    }
  }

  /** @returns {import("./table.js").Column<Voucher>[]} */
  function columns() {
    return [
      { title: t("券", "Voucher"), look: "wide", cell: ({ title, subTitle }) => [h("strong", null, title), h("span", { class: "small quiet detail" }, subTitle)] },
      { title: t("编号", "Id"), look: "number", cell: ({ id }) => id },
      { title: t("价格", "Price"), cell: ({ payValue, actualValue }) => priceWithDiscount(payValue, actualValue) },
      { title: t("货架", "Status"), cell: ({ status }) => listingStatusChip(status) },
      { title: t("秒杀", "Sale"), cell: ({ id, sale }) => (sale ? h("a", { class: "row", href: `#/sale/${id}` }, saleStateChip(sale.state, sale.paused), stockText(sale)) : "—") },
      { title: t("操作", "Actions"), look: "acts", cell: (voucher) => [
        button(t("修改", "Edit"), () => editVoucher(voucher)),
        voucher.status === ON_SHELF
          ? button(t("下架", "Unlist"), () => setStatus(voucher, OFF_SHELF, t("已下架", "Voucher unlisted")))
          : button(t("上架", "List"), () => setStatus(voucher, ON_SHELF, t("已上架", "Voucher listed"))),
      ] },
    ];
  }

  function addVoucher() {
    const { fields, values } = voucherFields();
    return formSheet(t("新增普通券", "New voucher"), fields, t("创建", "Create"), async () => {
      const text = values();
      // Invalid amounts are reported beside their field.
      if (!text) return false;
      const { wasMade } = await createVoucher({ ...text, shopId: shop.id });
      showToast(wasMade ? alreadyCreatedText() : t("券已创建", "Voucher created"));
      await reload();
      return true;
    });
  }

  /** @param {Voucher} voucher */
  function editVoucher(voucher) {
    const { fields, values } = voucherFields(voucher);
    return formSheet(t("修改券", "Edit voucher"), fields, t("保存", "Save"), async () => {
      const text = values();
      if (!text) return false;
      await call("PUT", `/voucher/${voucher.id}`, { body: text });
      showToast(t("券已保存", "Voucher saved"));
      await reload();
      return true;
    });
  }

  /**
   * @param {Voucher} voucher
   * @param {number} status
   * @param {string} done
   */
  async function setStatus({ id }, status, done) {
    await call("PUT", `/voucher/${id}`, { body: { status } });
    showToast(done);
    await reload();
  }
}

/** @param {NonNullable<Voucher["sale"]>} sale */
function stockText({ initial, added, left }) {
  return initial === undefined ? t("不限量", "unlimited") : t(`剩 ${left} / ${initial + added}`, `${left} of ${initial + added} left`);
}
