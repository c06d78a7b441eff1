// The orders of all users.

import { read } from "../../core/api.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { ORDER_STATUSES, orderStatusText } from "../labels.js";
import { downloadAccounts } from "../pieces/accounts-download.js";
import { filters } from "../pieces/filters.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { orderColumns } from "../pieces/order-columns.js";
import { table } from "../pieces/table.js";

const DIGITS = { inputmode: "numeric", pattern: "\\d{1,19}" };
const BY = ["id", "phone", "user", "voucher", "status"];

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, params, signal, title } = context;
  title(t("订单", "Orders"));
  const list = listing(context, {
    size: 20,
    load: async (current) => {
      const wanted = Object.fromEntries(BY.filter((name) => params[name]).map((name) => [name, params[name]]));
      const { data, total } = await read("/ops/orders", { query: { ...wanted, current }, signal });
      return { rows: data, total };
    },
    draw: (rows) => table(t("订单", "Orders"), orderColumns(), rows),
    none: () => emptyState("order", t("没有符合条件的订单。", "No orders found.")),
  });
  root.append(heading(t("订单", "Orders"), button(t("下载账目", "Download accounts"), () => downloadAccounts(signal))), filters(params, [
    { name: "id", label: t("订单编号", "Order"), attributes: DIGITS },
    { name: "phone", label: t("买家手机号", "Buyer's phone"), attributes: { inputmode: "numeric", pattern: "1[3-9]\\d{9}" } },
    { name: "user", label: t("用户编号", "User"), attributes: DIGITS },
    { name: "voucher", label: t("券编号", "Voucher"), attributes: DIGITS },
    { name: "status", label: t("状态", "Status"), options: statuses() },
  ]), list.root);
}

function statuses() {
  return [{ value: "", text: t("全部", "All") }, ...ORDER_STATUSES.map((status) => ({ value: String(status), text: orderStatusText(status) }))];
}
