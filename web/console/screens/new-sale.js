// Creation of a flash sale. The server validates the fields.

import { get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { go, replaceAddress } from "../../core/router.js";
import { screenHeader } from "../../parts/screen-header.js";
import { field } from "../../parts/field.js";
import { shopPicker } from "../../parts/shop-picker.js";
import { showToast } from "../../parts/toast.js";
import { latestMetrics } from "../live-metrics.js";
import { form } from "../pieces/form.js";
import { alreadyCreatedText } from "../pieces/create-once.js";
import { createSale } from "../pieces/new-voucher.js";
import { numberValue } from "../pieces/number-value.js";
import { timeField, timeValue, timeZoneText } from "../pieces/time-field.js";
import { voucherFields } from "../pieces/voucher-fields.js";

const DAY_MS = 86_400_000;
/** The proposed start is the next full quarter of an hour after this lead time. */
const [QUARTER_MS, MIN_LEAD_MS] = [15 * 60_000, 5 * 60_000];

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title }) {
  title(t("新建秒杀", "New sale"));
  const [zone, chosen] = await Promise.all([
    timeZoneText(),
    params.shop ? get(`/shop/${params.shop}`, { signal }).catch(() => undefined) : undefined,
  ]);
  if (signal.aborted) return;
  const shop = shopPicker(t("店铺", "Shop"), signal, { chosen, required: true, choose: (picked) => {
    // Restored when the screen renders anew.
    replaceAddress(picked ? `/sales/new?shop=${picked.id}` : "/sales/new");
    saleForm.dispatchEvent(new Event("change"));
  } });
  const voucher = voucherFields();
  const stock = field(t("库存", "Stock"), "input", { type: "number", min: 1, step: 1, required: true });
  const isUnlimited = h("input", { type: "checkbox", onchange: () => (stock.input.disabled = isUnlimited.checked) });
  const begin = timeField(t("开始时间", "Begins"), proposedTime(0));
  const end = timeField(t("结束时间", "Ends"), proposedTime(DAY_MS));
  const payMinutes = field(t("支付时限（分钟）", "Payment time limit (minutes)"), "input", { type: "number", min: 1, step: 1, placeholder: t("按商城设置", "Mall default") });
  const level = field(t("会员等级至少", "Minimum member level"), "input", { type: "number", min: 0, max: 9, step: 1, placeholder: t("不限", "Any") });
  const [name, subTitle, pay, actual, rules] = voucher.fields.map((one) => one.field.root);

  const inside = [
    h("fieldset", { class: "card pad stack" }, h("legend", { class: "unseen" }, t("店铺和券", "Shop and voucher")),
      h("div", { class: "fields" }, shop.root, name, subTitle, pay, actual, rules)),
    h("fieldset", { class: "card pad stack" }, h("legend", { class: "unseen" }, t("库存和条件", "Stock and terms")),
      h("div", { class: "fields" }, stock.root, h("label", { class: "check" }, isUnlimited, t("不限量", "Unlimited")), begin.root, end.root, payMinutes.root, level.root),
      h("p", { class: "quiet small" }, zone)),
  ];
  const saleForm = form([
    { field: { ...shop, settled: async () => shop.unclear() }, names: ["店铺", "shop", "shopId"] },
    ...voucher.fields,
    { field: stock, names: ["库存", "stock"] },
    { field: begin, names: ["开始时间", "beginTime"] },
    { field: end, names: ["结束时间", "endTime"] },
    { field: payMinutes, names: ["支付时限", "payWithinSeconds"] },
    { field: level, names: ["会员等级", "minLevel"] },
  ], t("创建秒杀", "Create sale"), create, { inside, keeps: true });
  root.append(screenHeader(t("新建秒杀", "New sale"), { home: "/sales" }), saleForm);

  async function create() {
    const text = voucher.values();
    if (!text) return false;
    const minutes = numberValue(payMinutes.input);
    const { id, wasMade } = await createSale({
      ...text, shopId: shop.value()?.id, stock: isUnlimited.checked ? -1 : numberValue(stock.input),
      beginTime: timeValue(begin.input), endTime: timeValue(end.input),
      payWithinSeconds: minutes === undefined ? undefined : minutes * 60, minLevel: numberValue(level.input),
    });
    showToast(wasMade ? alreadyCreatedText() : t("秒杀已创建", "Sale created"));
    if (!signal.aborted) go(`/sale/${id}`, { replace: true });
    return true;
  }
}

/**
 * Returns a proposed time by the server's clock, or an empty text.
 * @param {number} later milliseconds after the proposed start
 */
function proposedTime(later) {
  const now = latestMetrics()?.time;
  if (!now) return "";
  // Parsed and formatted as UTC, so that no time zone shifts the result.
  const begin = Math.ceil((Date.parse(`${now}Z`) + MIN_LEAD_MS) / QUARTER_MS) * QUARTER_MS;
  return new Date(begin + later).toISOString().slice(0, 19);
}
