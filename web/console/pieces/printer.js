// The receipt printer of the mall: the button of an order, and the line with the last job and a test page.

import { call, get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { showToast } from "../../parts/toast.js";
import { timestamp } from "./timestamp.js";

/**
 * @typedef {{time: string, orderId?: string, printed: boolean, code?: string, message?: string}} Job `message`: why it
 * was not printed
 * @typedef {{configured: boolean, address?: string, columns?: number, last?: Job}} Printer of `GET /ops/printer`
 */

/** The mall waits up to 17 s for the printer. */
const PRINT_TIMEOUT_MS = 20_000;

/** @type {Promise<boolean> | null} */
let response = null;

/** Returns whether the mall has a printer; asks the server once per page. A failure counts as none. */
function hasPrinter() {
  response ??= get("/ops/printer").then(({ configured }) => configured, () => {
    response = null;
    return false;
  });
  return response;
}

/** @param {string} path */
function print(path) {
  return call("POST", path, { timeoutMs: PRINT_TIMEOUT_MS });
}

/**
 * Returns the button that prints the receipt of a paid order; hidden in a mall without a printer.
 * @param {string} order
 */
export function printButton(order) {
  return printerButton(t("打印小票", "Print the receipt"), `/ops/orders/${order}/print`, t("小票已打印", "Receipt printed"));
}

/**
 * Returns a button that prints on the receipt printer; hidden in a mall without a printer.
 * @param {string} text
 * @param {string} path of the call that prints
 * @param {string} done text after printing
 */
export function printerButton(text, path, done) {
  const control = button(text, async () => {
    await print(path);
    showToast(done);
  }, { icon: "print" });
  control.hidden = true;
  void hasPrinter().then((has) => (control.hidden = !has));
  return control;
}

/**
 * Returns the printer with its last job and a button for a test page; hidden in a mall without a printer.
 * @param {AbortSignal} signal
 */
export function printerLine(signal) {
  const address = h("span", { class: "mono" });
  const last = h("p", { class: "quiet small", role: "status" });
  const line = h("section", { class: "card pad row wrap", hidden: true, "aria-label": t("小票打印机", "Receipt printer") },
    h("div", { class: "grow" }, h("p", null, h("strong", null, t("小票打印机", "Receipt printer")), " ", address), last),
    button(t("打印测试页", "Print a test page"), printTestPage, { icon: "print" }));
  // Without an answer the line stays hidden: the rest of the screen does not need it.
  void refresh().catch(() => {});
  return line;

  async function refresh() {
    /** @type {Printer} */
    const printer = await get("/ops/printer", { signal });
    line.hidden = !printer.configured;
    fill(address, printer.address);
    fill(last, printer.last ? lastJob(printer.last) : t("还没有打印过。", "Nothing printed yet."));
  }

  async function printTestPage() {
    try {
      await print("/ops/printer/test");
      showToast(t("测试页已打印", "Test page printed"));
    } finally {
      await refresh().catch(() => {});
    }
  }
}

/** @param {Job} job */
function lastJob({ time, printed, message = "" }) {
  return [t("上一张 ", "Last page "), timestamp(time), t("：", ": "), printed ? t("已打印", "printed") : message];
}
