// The receipt of a voucher: code, QR code and facts, also for printing.

import { get } from "../core/api.js";
import { h } from "../core/dom.js";
import { isKiosk } from "../core/local-storage.js";
import { t } from "../core/language.js";
import { button } from "../parts/button.js";
import { openSheet } from "../parts/sheet.js";
import { formatYuan } from "../parts/price.js";
import { qrCode } from "../parts/qr-code.js";
import { formatDateTime } from "../parts/date-time.js";
import { ruleLines } from "./cards/voucher.js";
import { STATUS } from "./orders.js";

/**
 * @typedef {object} Receipt
 * @property {string} id
 * @property {string} code
 * @property {string} title
 * @property {string} rules
 * @property {number} payValue cents
 * @property {number} actualValue cents
 * @property {number} status
 * @property {string} [payTime]
 * @property {string} [useTime]
 * @property {{id: number, name: string, address: string, openHours: string}} [shop]
 * @property {import("../parts/qr-code.js").Qr} qr
 */

/**
 * @param {string} order
 * @param {AbortSignal} signal
 * @returns {Promise<Receipt>}
 */
export function readReceipt(order, signal) {
  return get(`/voucher-order/${order}/receipt`, { signal });
}

/** @param {Receipt} receipt */
export function receiptCard(receipt) {
  const isUsed = receipt.status === STATUS.used;
  const [word, time] = isUsed ? [t("使用于", "Used"), receipt.useTime] : [t("支付于", "Paid"), receipt.payTime];
  return h("section", { class: isUsed ? "receipt used" : "receipt", "aria-label": t("券码", "Receipt") },
    h("p", { class: "receipt-shop" }, receipt.shop?.name),
    h("h2", null, receipt.title),
    h("div", { class: "receipt-code" }, qrCode(receipt.qr, isUsed ? t("已使用的二维码", "QR code, used") : t("供店员扫描的二维码", "QR code for the shop to scan")), isUsed && h("p", { class: "receipt-used" }, t("已使用", "Used")),
      h("p", { class: "receipt-text" }, h("span", { class: "unseen" }, t("券码 ", "Code ")), receipt.code)),
    !isUsed && h("p", { class: "small quiet" }, t("到店出示，由店员扫码或输入。", "Show this code in the shop to be scanned or entered.")),
    h("dl", { class: "facts small" },
      fact(t("价值", "Value"), formatYuan(receipt.actualValue)), fact(t("实付", "Price"), formatYuan(receipt.payValue)),
      time && fact(word, formatDateTime(time)), fact(t("订单", "Order"), receipt.id),
      receipt.shop?.address && fact(t("地址", "Address"), receipt.shop.address),
      receipt.shop?.openHours && fact(t("营业", "Open"), receipt.shop.openHours)),
    h("ul", { class: "rules small" }, ruleLines(receipt.rules).map((rule) => h("li", null, rule))),
    isKiosk && button(t("带到手机上", "Take it on your phone"), () => handOver(receipt.id), { icon: "scan", look: ["main", "wide"] }),
    button(t("打印", "Print"), () => print(), { icon: "print", look: ["wide"] }));
}

/**
 * Shows the receipt as a QR code that holds its text: a phone needs no network to take it along.
 * @param {string} order
 */
async function handOver(order) {
  /** @type {{text: string, qr: import("../parts/qr-code.js").Qr}} */
  const { text, qr } = await get(`/voucher-order/${order}/receipt/text`);
  void openSheet(t("用手机扫一扫", "Scan with your phone"), (close) => [
    h("div", { class: "hand-over" }, qrCode(qr, t("含券码文字的二维码", "QR code with the text of the receipt"))),
    h("p", { class: "quiet" }, t("二维码里就是券码的文字，不用联网。请在手机上保存或截图。", "The code holds the receipt as a text; no network is needed. Save it or take a screenshot.")),
    h("p", { class: "hand-over-text small" }, text),
    h("div", { class: "buttons" }, button(t("好了", "Done"), close, { look: ["main"] }))]);
}

/**
 * @param {string} name
 * @param {string} value
 */
function fact(name, value) {
  return h("div", null, h("dt", null, name), h("dd", null, value));
}
