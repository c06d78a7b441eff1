// The dialog that downloads the accounts of a day.

import { stream } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { field } from "../../parts/field.js";
import { saveFile } from "../../parts/save-file.js";
import { formSheet } from "./form.js";
import { mallTime } from "./mall-time.js";

const DAY_MS = 86_400_000;

/** @param {AbortSignal} signal */
export async function downloadAccounts(signal) {
  const time = await mallTime();
  const day = (/** @type {number} */ at) => time(at).slice(0, 10);
  const wanted = field(t("日期（商城时区）", "Day, in the mall's time zone"), "input",
    { type: "date", required: true, value: day(Date.now() - DAY_MS), max: day(Date.now()) });
  const file = field(t("内容", "Content"), "select", {},
    h("option", { value: "payments" }, t("收退款", "Payments and refunds")),
    h("option", { value: "orders" }, t("订单", "Orders")),
    h("option", { value: "books" }, t("日账", "Day book")),
    h("option", { value: "cash" }, t("Z报表", "Z reports")));
  await formSheet(t("下载账目", "Download accounts"), [{ field: wanted, names: ["日期", "day"] }, { field: file, names: [] }],
    t("下载", "Download"), async () => {
      const response = await stream(`/ops/accounts/${wanted.input.value}/${file.input.value}`, signal);
      await saveFile(response, `${file.input.value}-${wanted.input.value}.csv`);
    },
    { before: [h("p", { class: "quiet" }, t("CSV文件，可用Excel打开；下载会写进审计日志。",
      "A CSV file for Excel. The download is written to the audit log."))] });
}
