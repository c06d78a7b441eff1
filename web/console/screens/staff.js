// The staff: people who sell and redeem at the counter, each with a PIN.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { screenHeader } from "../../parts/screen-header.js";
import { confirmAction, openSheet } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { formSheet } from "../pieces/form.js";
import { listing } from "../pieces/listing.js";
import { table } from "../pieces/table.js";
import { timestamp } from "../pieces/timestamp.js";

/** @typedef {{id: number, name: string, createdTime: string, pinTime: string}} Person an item of `GET /ops/staff` */

/** All people fit on one page. */
const STAFF_MAX = 100;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, signal, title } = context;
  const name = t("店员", "Staff");
  title(name);
  const list = listing(context, {
    size: STAFF_MAX,
    load: async () => {
      /** @type {Person[]} */
      const rows = await get("/ops/staff", { signal });
      return { rows, total: rows.length };
    },
    draw: (rows, reload) => table(name, columns(reload), rows),
    none: () => emptyState("people", t("还没有店员。", "No staff yet.")),
  });
  root.append(screenHeader(name, { home: "/security" }),
    h("p", { class: "quiet intro" }, t("店员在受信任的自助终端上凭PIN登录，可以售券、收款、核销、打印小票和查看今天的订单，不能退款，也不能改动商城。每个操作都记在审计日志里，带有店员的姓名。",
      "Staff log in at a trusted kiosk by PIN. They sell, take payments, redeem, print receipts and see the orders of today; they refund nothing and change nothing in the mall. The audit log names the person of each action.")),
    h("div", { class: "row wrap intro" }, button(t("添加店员", "Add a person"), () => add(list.reload), { icon: "plus", look: ["main"] })), list.root);
}

/**
 * @param {() => Promise<void>} reload
 * @returns {import("../pieces/table.js").Column<Person>[]}
 */
function columns(reload) {
  return [
    { title: t("姓名", "Name"), look: "wide", cell: ({ name }) => h("strong", null, name) },
    { title: t("添加时间", "Added"), cell: ({ createdTime }) => timestamp(createdTime) },
    { title: t("PIN启用时间", "PIN since"), cell: ({ pinTime }) => timestamp(pinTime) },
    { title: t("操作", "Actions"), look: "acts", cell: (person) => h("div", { class: "row wrap" },
      button(t("换PIN", "New PIN"), () => renew(person, reload), { icon: "lock" }),
      button(t("移除", "Remove"), () => remove(person, reload), { icon: "trash", look: ["danger"] })) },
  ];
}

/** @param {() => Promise<void>} reload */
function add(reload) {
  const name = field(t("姓名，例如“小安”", "Name, such as “Anne”"), "input", { maxlength: 40, required: true, autocomplete: "off" });
  const pin = pinField();
  return formSheet(t("添加店员", "Add a person"), [{ field: name, names: ["姓名", "店员的姓名", "name", "Another staff member"] }, pin], t("添加", "Add"), async () => {
    const { data } = await call("POST", "/ops/staff", { body: { name: name.input.value.trim(), ...chosen(pin.field.input.value) } });
    await reload();
    afterwards(data);
  });
}

/**
 * @param {Person} person
 * @param {() => Promise<void>} reload
 */
function renew({ id, name }, reload) {
  const pin = pinField();
  return formSheet(t(`“${name}”的新PIN`, `New PIN of ${name}`), [pin], t("更换", "Replace"), async () => {
    const { data } = await call("PUT", `/ops/staff/${id}/pin`, { body: chosen(pin.field.input.value) });
    await reload();
    afterwards(data);
  }, { before: [h("p", null, t("原PIN立即失效，此人在所有终端上退出登录。", "The former PIN is void at once, and the person is logged out everywhere."))] });
}

function pinField() {
  const input = field(t("PIN，6到12位数字，由本人选择；留空则由商城生成", "PIN, 6 to 12 digits chosen by the person; empty: made by the mall"), "input",
    { type: "password", inputmode: "numeric", maxlength: 12, autocomplete: "off" });
  return { field: input, names: ["PIN"] };
}

/** @param {string} pin */
function chosen(pin) {
  return pin.trim() ? { pin: pin.trim() } : {};
}

/**
 * Shows a PIN made by the mall, which nobody can read again.
 * @param {Person & {pin?: string}} person
 */
function afterwards({ name, pin }) {
  if (!pin) return showToast(t("PIN已保存", "PIN saved"));
  void openSheet(t(`“${name}”的PIN`, `PIN of ${name}`), (close) => [h("div", { class: "stack" },
    h("p", { class: "redeem-price mono" }, pin),
    h("p", null, t("PIN只显示这一次。请本人记住，不要写在终端旁边。", "The PIN is shown only now. The person should memorise it, and keep no note at the kiosk.")),
    button(t("已记住", "Memorised"), close, { look: ["main"] }))]);
}

/**
 * @param {Person} person
 * @param {() => Promise<void>} reload
 */
async function remove({ id, name }, reload) {
  const isConfirmed = await confirmAction(t(`移除店员“${name}”？`, `Remove ${name} from the staff?`),
    t("此人立即退出登录，PIN作废。姓名保留在审计日志里。", "The person is logged out at once, and the PIN is void. The audit log keeps the name."), t("移除", "Remove"), { danger: true });
  if (!isConfirmed) return;
  await call("DELETE", `/ops/staff/${id}`);
  showToast(t("店员已移除", "Person removed"));
  await reload();
}
