// Trusted kiosks: devices in a shop whose buyers need no check in guarded sales.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { screenHeader } from "../../parts/screen-header.js";
import { confirmAction, openSheet } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { form } from "../pieces/form.js";
import { listing } from "../pieces/listing.js";
import { printerLine } from "../pieces/printer.js";
import { table } from "../pieces/table.js";
import { timestamp } from "../pieces/timestamp.js";

/** @typedef {{id: number, name: string, createdTime: string}} Kiosk an item of `GET /ops/kiosks` */

/** All kiosks fit on one page. */
const KIOSKS_MAX = 100;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, signal, title } = context;
  const name = t("自助终端", "Kiosks");
  title(name);
  const list = listing(context, {
    size: KIOSKS_MAX,
    load: async () => {
      /** @type {Kiosk[]} */
      const rows = await get("/ops/kiosks", { signal });
      return { rows, total: rows.length };
    },
    draw: (rows, reload) => table(name, columns(reload), rows),
    none: () => emptyState("shop", t("还没有受信任的自助终端。", "No trusted kiosks yet.")),
  });
  root.append(screenHeader(name, { home: "/security" }),
    h("p", { class: "quiet intro" }, t("门店里的自助终端由店员看管。受信任的终端，抢购设了防护的秒杀时不需要验证；排队和每人限购照旧。",
      "A kiosk in the shop is under the eyes of its staff. Buyers at a trusted kiosk take no check in guarded sales; queues and limits per buyer stay.")),
    h("div", { class: "row wrap intro" }, button(t("添加终端", "Add a kiosk"), () => add(list.reload), { icon: "plus", look: ["main"] })), list.root, printerLine(signal));
}

/**
 * @param {() => Promise<void>} reload
 * @returns {import("../pieces/table.js").Column<Kiosk>[]}
 */
function columns(reload) {
  return [
    { title: t("名称", "Name"), look: "wide", cell: ({ name }) => h("strong", null, name) },
    { title: t("创建时间", "Created"), cell: ({ createdTime }) => timestamp(createdTime) },
    { title: t("操作", "Actions"), look: "acts", cell: (kiosk) => button(t("移除", "Remove"), () => remove(kiosk, reload), { icon: "trash", look: ["danger"] }) },
  ];
}

/** @param {() => Promise<void>} reload */
function add(reload) {
  const name = field(t("名称，例如“收银台”", "Name, such as “checkout”"), "input", { maxlength: 40, required: true, autocomplete: "off" });
  return openSheet(t("添加自助终端", "Add a kiosk"), (close) => [form([{ field: name, names: ["自助终端的名称", "name"] }], t("添加", "Add"), async () => {
    const { data } = await call("POST", "/ops/kiosks", { body: { name: name.input.value.trim() } });
    close();
    await reload();
    showLink(data.key);
  }, { inside: [name.root], cancel: close })]);
}

/**
 * Shows the link with the key, which nobody can read again.
 * @param {string} key
 */
function showLink(key) {
  return openSheet(t("终端的链接", "Link of the kiosk"), (close) => [h("div", { class: "stack" },
    h("p", null, t("在终端的浏览器里打开一次这个链接，之后照常使用。链接只显示这一次，等同于钥匙，请勿转发。",
      "Open this link once in the kiosk's browser, and use the kiosk as before. It is a key, and shown only now: do not pass it on.")),
    h("p", { class: "mono hash" }, `${location.origin}/?kiosk#kiosk-key=${key}`),
    h("p", null, t("如果店员也在这台设备上凭PIN售券、核销，再打开一次柜台的链接：", "If staff sell and redeem at this device by PIN, open the link of the counter as well:")),
    h("p", { class: "mono hash" }, `${location.origin}${location.pathname}?kiosk#kiosk-key=${key}`),
    button(t("已打开", "Opened"), close, { look: ["main"] }))]);
}

/**
 * @param {Kiosk} kiosk
 * @param {() => Promise<void>} reload
 */
async function remove({ id, name }, reload) {
  const isConfirmed = await confirmAction(t(`移除终端“${name}”？`, `Remove the kiosk ${name}?`),
    t("几秒内，这台终端上的买家又需要验证。", "Within seconds, its buyers take the check again."), t("移除", "Remove"), { danger: true });
  if (!isConfirmed) return;
  await call("DELETE", `/ops/kiosks/${id}`);
  showToast(t("终端已移除", "Kiosk removed"));
  await reload();
}
