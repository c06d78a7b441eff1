// Orders, whosever they are.

import { read } from "../../core/api.js";
import { both } from "../../core/language.js";
import { empty } from "../../parts/empty.js";
import { ORDER_STATUSES, orderStatusText } from "../names.js";
import { filters } from "../pieces/filters.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { orderColumns } from "../pieces/order-columns.js";
import { table } from "../pieces/table.js";

const DIGITS = { inputmode: "numeric", pattern: "\\d{1,19}" };
const BY = ["id", "phone", "user", "voucher", "status"];

/** @param {import("../../core/router.js").Showing} showing */
export function open(showing) {
  const { root, at, signal, title } = showing;
  title(both("订单", "Orders"));
  const list = listing(showing, {
    size: 20,
    load: async (current) => {
      const wanted = Object.fromEntries(BY.filter((name) => at[name]).map((name) => [name, at[name]]));
      const { data, total } = await read("/ops/orders", { query: { ...wanted, current }, signal });
      return { rows: data, total };
    },
    draw: (rows) => table(both("订单", "Orders"), orderColumns(), rows),
    none: () => empty("order", both("没有这样的订单。", "No such order.")),
  });
  root.append(heading(both("订单", "Orders")), filters(at, [
    { name: "id", label: both("订单编号", "Order"), attributes: DIGITS },
    { name: "phone", label: both("买家手机号", "Buyer's phone"), attributes: { inputmode: "numeric", pattern: "1[3-9]\\d{9}" } },
    { name: "user", label: both("用户编号", "User"), attributes: DIGITS },
    { name: "voucher", label: both("券编号", "Voucher"), attributes: DIGITS },
    { name: "status", label: both("状态", "Status"), options: statuses() },
  ]), list.root);
}

function statuses() {
  return [{ value: "", text: both("全部", "All") }, ...ORDER_STATUSES.map((status) => ({ value: String(status), text: orderStatusText(status) }))];
}
