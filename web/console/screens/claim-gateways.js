// Claim gateways: servers of others that claim for users, in batches.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { emptyState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { screenHeader } from "../../parts/screen-header.js";
import { confirmAction, openSheet } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { form } from "../pieces/form.js";
import { listing } from "../pieces/listing.js";
import { table } from "../pieces/table.js";
import { timestamp } from "../pieces/timestamp.js";

/**
 * @typedef {{id: number, name: string, operatorId: number, vouchers: number[], createdTime: string, endTime: string,
 * expired: boolean}} Gateway an item of `GET /ops/claim-gateways`
 */

/** All gateways fit on one page. */
const GATEWAYS_MAX = 1_000;
const HOURS_PER_DAY = 24;
const DAYS_MAX = 90;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, signal, title } = context;
  const name = t("抢购网关", "Claim gateways");
  title(name);
  const list = listing(context, {
    size: GATEWAYS_MAX,
    load: async () => {
      /** @type {Gateway[]} */
      const rows = await get("/ops/claim-gateways", { signal });
      return { rows, total: rows.length };
    },
    draw: (rows, reload) => table(name, columns(reload), rows),
    none: () => emptyState("lock", t("还没有抢购网关。", "No claim gateways yet.")),
  });
  root.append(screenHeader(name, { home: "/security" }),
    h("p", { class: "quiet intro" }, t("抢购网关是一台受信任的服务器，例如公司自己的应用，凭令牌替用户成批抢购。秒杀的各项限制照旧，令牌看不到任何用户数据。",
      "A claim gateway is a trusted server, such as a company's own app, that claims for its users in batches. The rules of a sale stay as they are, and the token shows no data of users.")),
    h("div", { class: "row wrap intro" }, button(t("添加网关", "Add a gateway"), () => add(list.reload), { icon: "plus", look: ["main"] })), list.root);
}

/**
 * @param {() => Promise<void>} reload
 * @returns {import("../pieces/table.js").Column<Gateway>[]}
 */
function columns(reload) {
  return [
    { title: t("名称", "Name"), look: "wide", cell: ({ name, operatorId }) => h("span", { class: "stack tight" },
      h("strong", null, name), h("span", { class: "small quiet" }, t(`由用户 ${operatorId} 签发`, `issued by user ${operatorId}`))) },
    { title: t("秒杀", "Sales"), cell: ({ vouchers }) => vouchers.join(t("、", ", ")) },
    { title: t("创建时间", "Created"), cell: ({ createdTime }) => timestamp(createdTime) },
    { title: t("失效时间", "Ends"), cell: ({ endTime, expired }) => h("span", { class: "stack tight" },
      timestamp(endTime), expired && chip(t("已过期", "Expired"))) },
    { title: t("操作", "Actions"), look: "acts", cell: (gateway) => button(t("撤销", "Revoke"), () => revoke(gateway, reload), { icon: "trash", look: ["danger"] }) },
  ];
}

/** @param {() => Promise<void>} reload */
function add(reload) {
  const name = field(t("名称，例如“公司小程序”", "Name, such as “company app”"), "input", { maxlength: 40, required: true, autocomplete: "off" });
  const vouchers = field(t("可抢购的秒杀，填编号，用逗号隔开", "Ids of the sales, separated by commas"), "input",
    { required: true, autocomplete: "off", pattern: "\\s*\\d+(\\s*[,，]\\s*\\d+)*\\s*" });
  const days = field(t("有效天数", "Days until the token ends"), "input", { type: "number", required: true, min: 1, max: DAYS_MAX, value: 7 });
  const fields = [
    { field: name, names: ["抢购网关的名称", "name"] },
    { field: vouchers, names: ["秒杀", "vouchers", "sale"] },
    { field: days, names: ["有效时间", "validHours"] },
  ];
  return openSheet(t("添加抢购网关", "Add a claim gateway"), (close) => [form(fields, t("添加", "Add"), async () => {
    const body = {
      name: name.input.value.trim(), vouchers: vouchers.input.value.split(/[,，]/).map(Number), validHours: Number(days.input.value) * HOURS_PER_DAY,
    };
    const { data } = await call("POST", "/ops/claim-gateways", { body });
    close();
    await reload();
    showToken(data.token);
  }, { cancel: close })]);
}

/**
 * Shows the token, which nobody can read again.
 * @param {string} token
 */
function showToken(token) {
  return openSheet(t("网关令牌", "Token of the gateway"), (close) => [h("div", { class: "stack" },
    h("p", null, t("请立即保存到网关中，之后无法再次查看。令牌等同于钥匙，请勿转发。",
      "Store it in the gateway now: nobody can read it again. It is a key: do not pass it on.")),
    h("p", { class: "mono hash" }, token),
    button(t("已保存", "Stored"), close, { look: ["main"] }))]);
}

/**
 * @param {Gateway} gateway
 * @param {() => Promise<void>} reload
 */
async function revoke({ id, name }, reload) {
  const isConfirmed = await confirmAction(t(`撤销抢购网关“${name}”？`, `Revoke the claim gateway ${name}?`),
    t("令牌立即失效，网关不能再抢购；已抢到的订单不受影响。", "Its token is void at once, and the gateway claims nothing more. Orders stay."),
    t("撤销", "Revoke"), { danger: true });
  if (!isConfirmed) return;
  await call("DELETE", `/ops/claim-gateways/${id}`);
  showToast(t("网关已撤销", "Gateway revoked"));
  await reload();
}
