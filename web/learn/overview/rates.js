// Charts of what the rungs accept and persist per second.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { drawBars } from "../../report/chart/bar-chart.js";
import { chartFigure } from "../../report/chart/figure.js";
import { rate } from "../../report/number.js";
import { numberColumn, table } from "../../report/table.js";
import { allRungs, reportOf } from "../ladder.js";
import { titleOf } from "../prose.js";

/** @typedef {{name: string, value: number}} Measured */

export function rateCharts() {
  const accepted = measured("accepted_per_s");
  const persisted = measured("persisted_per_s");
  if (accepted.length === 0) return h("p", { class: "quiet" }, t("运行之后，这里比较各级的速度。", "After a run, rates are compared here."));
  return h("div", { class: "panels" },
    chart(t("每秒答应多少", "Accepted per second"), t("买家得到应答的速度。有队列的做法先答应，后写库。", "How fast buyers get their responses. Rungs with a queue accept first and write later."), accepted, 0),
    chart(t("每秒落库多少", "Persisted per second"), t("订单真正写进数据库的速度。", "How fast orders reach the database."), persisted, 1));
}

/**
 * @param {"accepted_per_s" | "persisted_per_s"} figure
 * @returns {Measured[]}
 */
function measured(figure) {
  return allRungs().flatMap((rung) => {
    const value = reportOf(rung.id)?.speed?.[figure];
    return value === undefined ? [] : [{ name: `${rung.id} ${titleOf(rung)}`, value }];
  });
}

/**
 * @param {string} title
 * @param {string} summary
 * @param {Measured[]} rows
 * @param {number} look
 */
function chart(title, summary, rows, look) {
  return chartFigure({
    title,
    summary,
    draw: (width) => drawBars(rows.map(({ name, value }) => ({ name, look, value, low: null, high: null })), rate, width),
    table: table(title, [
      { title: t("级", "Rung"), cell: (/** @type {Measured} */ { name }) => name, look: "name" },
      numberColumn(title, (/** @type {Measured} */ { value }) => rate(value)),
    ], rows),
  });
}
