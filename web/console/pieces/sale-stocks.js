// The stock of each open sale, updated live.

import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { emptyState } from "../../parts/empty-state.js";
import { meter } from "../../parts/meter.js";
import { skeletons } from "../../parts/skeleton.js";
import { saleStateChip } from "../labels.js";

/** @typedef {import("../live-metrics.js").SaleMetrics} SaleFigures */

/**
 * @returns {{root: HTMLElement, show: (sales: SaleFigures[] | undefined) => void}} `undefined`: currently
 * unreadable
 */
export function saleStocks() {
  const list = h("ul", { class: "drains" }, skeletons(2, "3.5rem").map((box) => h("li", null, box)));
  const errorNotice = h("p", { class: "notice bad", role: "status", hidden: true });
  const root = h("div", { class: "stack" }, errorNotice, list);
  /** @type {Map<number, ReturnType<typeof saleStock>> | undefined} undefined before the first sample */
  let rows;
  return {
    root,
    show: (sales) => {
      list.classList.toggle("old", !sales);
      if (errorNotice.hidden === !sales) {
        errorNotice.hidden = !!sales;
        errorNotice.textContent = sales ? "" : t("暂时无法读取秒杀。", "Sales are unavailable.");
      }
      if (!sales) return;
      const next = new Map(sales.map((sale) => [sale.voucherId, rows?.get(sale.voucherId) ?? saleStock(sale)]));
      const isSame = rows && String([...next.keys()]) === String([...rows.keys()]);
      rows = next;
      if (!isSame) {
        fill(list, next.size > 0 ? [...next.values()].map((one) => one.root)
          : h("li", null, emptyState("bolt", t("现在没有进行中的秒杀。", "No open sales right now."))));
      }
      for (const sale of sales) next.get(sale.voucherId)?.show(sale);
    },
  };
}

/** @param {SaleFigures} sale */
function saleStock({ voucherId, title }) {
  const bar = meter(t(`${title}的剩余库存`, `Units left of ${title}`));
  const state = h("span");
  const left = h("span", { class: "number" });
  const name = h("span", { class: "cut grow" });
  const root = h("li", null, h("a", { class: "drain", href: `#/sale/${voucherId}` },
    h("span", { class: "row" }, name, state), bar.root, left));
  return {
    root,
    /** @param {SaleFigures} sale */
    show: (sale) => {
      name.textContent = sale.title;
      fill(state, saleStateChip(sale.state));
      const isUnlimited = sale.stock < 0;
      bar.root.hidden = isUnlimited;
      bar.show(sale.stock, sale.units, stockText(sale));
      left.textContent = stockText(sale);
    },
  };
}

/** @param {{stock: number, units: number, taken: number}} sale */
export function stockText({ stock, units, taken }) {
  if (stock < 0) return t(`不限量，已抢 ${taken.toLocaleString()}`, `unlimited, ${taken.toLocaleString()} taken`);
  const [left, total] = [stock, units].map((count) => count.toLocaleString());
  return t(`剩 ${left} / ${total}，已抢 ${taken.toLocaleString()}`, `${left} of ${total} left, ${taken.toLocaleString()} taken`);
}
