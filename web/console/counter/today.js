// The orders of today, for staff.

import { get } from "../../core/api.js";
import { t } from "../../core/language.js";
import { emptyState } from "../../parts/empty-state.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { orderColumns } from "../pieces/order-columns.js";
import { table } from "../pieces/table.js";

/** The first columns, without times and modes of payment: they fit an upright screen. */
const COLUMNS = 6;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, signal, title } = context;
  const name = t("今天的订单", "Orders of today");
  title(name);
  const list = listing(context, {
    size: 20,
    load: async (current) => ({ rows: await get("/staff/orders", { query: { current }, signal }) }),
    draw: (rows) => table(name, orderColumns().slice(0, COLUMNS), rows),
    none: () => emptyState("order", t("今天还没有订单。", "No orders today yet.")),
  });
  root.append(heading(name), list.root);
}
