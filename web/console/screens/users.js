// Users: search, blocking, roles and lost phone numbers.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { cachedMe } from "../../core/session.js";
import { avatar } from "../../parts/avatar.js";
import { button, linkButton } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { emptyState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { confirmAction } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { roleText } from "../labels.js";
import { formSheet } from "../pieces/form.js";
import { editLevel } from "../pieces/level-form.js";
import { askReason } from "../pieces/reason-dialog.js";
import { timestamp } from "../pieces/timestamp.js";
import { filters } from "../pieces/filters.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { table } from "../pieces/table.js";

/**
 * An item of `GET /ops/users`.
 * @typedef {object} User
 * @property {number} id
 * @property {string} phone
 * @property {string} nickName
 * @property {string} icon
 * @property {"customer" | "operator"} role
 * @property {string} createTime
 * @property {{since: string, reason: string}} [blocked]
 * @property {string} [secondFactorTime]
 */

const FILTERS = ["phone", "name", "role", "blocked"];

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, params, signal, title } = context;
  title(t("用户", "Users"));
  const list = listing(context, {
    size: 20,
    load: async (current) => {
      if (params.id) return { rows: [await get(`/ops/users/${params.id}`, { signal })].filter((user) => matchesFilters(user, params)) };
      const filterQuery = Object.fromEntries(FILTERS.filter((name) => params[name]).map((name) => [name, params[name]]));
      return { rows: await get("/ops/users", { query: { ...filterQuery, current }, signal }) };
    },
    draw: (rows, reload) => table(t("用户", "Users"), columns(reload), rows),
    none: () => emptyState("people", t("没有符合条件的用户。", "No users found.")),
  });
  root.append(heading(t("用户", "Users"), linkButton(t("会员等级", "Levels"), "#/levels", { icon: "star" })), filters(params, [
    { name: "phone", label: t("手机号开头", "Phone begins with"), attributes: { inputmode: "numeric" } },
    { name: "name", label: t("昵称里有", "Name contains") },
    { name: "role", label: t("角色", "Role"), options: [
      { value: "", text: t("全部", "All") }, { value: "customer", text: roleText("customer") }, { value: "operator", text: roleText("operator") },
    ] },
    { name: "blocked", label: t("账号", "Account"), options: [
      { value: "", text: t("全部", "All") }, { value: "true", text: t("已停用", "Blocked") },
    ] },
    { name: "id", label: t("用户编号", "User"), attributes: { inputmode: "numeric", pattern: "\\d{1,19}" } },
  ]), list.root);
}

/**
 * Whether a user found by id matches the other filters.
 * @param {User} user
 * @param {Record<string, string>} params
 */
function matchesFilters({ phone, nickName, role, blocked }, params) {
  return phone.startsWith(params.phone ?? "") && nickName.includes(params.name ?? "") && (!params.role || role === params.role)
    && (!params.blocked || String(blocked !== undefined) === params.blocked);
}

/**
 * @param {() => unknown} onChange
 * @returns {import("../pieces/table.js").Column<User>[]}
 */
function columns(onChange) {
  return [
    { title: t("用户", "User"), look: "wide", cell: (user) => h("span", { class: "row" }, avatar(user), h("span", null, user.nickName)) },
    { title: t("编号", "Id"), look: "number", cell: ({ id }) => id },
    { title: t("手机号", "Phone"), cell: ({ phone }) => h("span", { class: "number" }, phone) },
    { title: t("角色", "Role"), cell: ({ role, secondFactorTime }) => [
      role === "operator" ? chip(roleText(role), "accent") : roleText(role), secondFactorTime && chip(t("两步验证", "Second factor"), "good")] },
    { title: t("账号", "Account"), look: "wide", cell: ({ blocked }) => (blocked
      ? [chip(t("已停用", "Blocked"), "bad"), h("span", { class: "small quiet detail" }, blocked.reason, " · ", timestamp(blocked.since))] : t("正常", "Active")) },
    { title: t("加入", "Joined"), cell: ({ createTime }) => timestamp(createTime) },
    { title: t("操作", "Actions"), look: "acts", cell: (user) => actionButtons(user, onChange) },
  ];
}

/**
 * @param {User} user
 * @param {() => unknown} onChange
 */
function actionButtons({ id, nickName, role, blocked }, onChange) {
  const isMe = cachedMe()?.id === id;
  const other = role === "operator" ? "customer" : "operator";
  return [
    h("a", { class: "button", href: `#/orders?user=${id}` }, t("订单", "Orders")),
    button(other === "operator" ? t("设为管理员", "Make operator") : t("收回管理", "Make customer"), changeRole),
    button(t("等级", "Level"), () => editLevel({ id, nickName })),
    button(t("换手机号", "Change phone"), changePhone),
    blocked ? button(t("恢复", "Unblock"), unblock) : !isMe && button(t("停用", "Block"), block, { look: ["danger"] }),
  ];

  async function changeRole() {
    const isConfirmed = await confirmAction(t(`把 ${nickName} 改为${roleText(other)}？`, `Make ${nickName} ${other === "operator" ? "an operator" : "a customer"}?`),
      other === "operator" ? t("管理员拥有管理台的全部权限。", "An operator may do everything here.")
        : isMe ? t("您将不能再进入管理台。", "You will lose access to the console.") : t("之后不能再进入管理台。", "This user will lose access to the console."),
      t("确定", "Confirm"));
    if (!isConfirmed) return;
    await call("PUT", `/ops/users/${id}/role`, { body: { role: other } });
    showToast(t("角色已修改", "Role changed"));
    await onChange();
  }

  function changePhone() {
    const phone = field(t("新手机号", "New phone number"), "input", { inputmode: "tel", maxlength: 11, required: true });
    const reason = field(t("原因（写进审计日志）", "Reason, for the audit log"), "input", { maxlength: 200, required: true });
    const fields = [{ field: phone, names: ["手机号", "phone", "mobile number"] }, { field: reason, names: ["原因", "reason"] }];
    return formSheet(t(`更换 ${nickName} 的手机号？`, `Change the phone number of ${nickName}?`), fields, t("更换", "Change"), async () => {
      const { data } = await call("PUT", `/ops/users/${id}/phone`, { body: { phone: phone.input.value.trim(), reason: reason.input.value } });
      showToast(t(`已更换，结束了 ${data.sessionsEnded} 个登录`, `Changed; sessions ended: ${data.sessionsEnded}`));
      await onChange();
    }, { before: [h("p", null, t("请先核实身份。所有登录立即失效，以后用新号码登录。", "Verify the identity first. All sessions end immediately, and log-ins need the new number."))], danger: true });
  }

  function block() {
    return askReason(t(`停用 ${nickName} 的账号？`, `Block ${nickName}?`),
      t("所有登录立即失效，不能再登录、抢购或发布。", "All sessions end immediately. The user cannot log in, buy or post."), t("停用", "Block"), async (reason) => {
        const { data } = await call("POST", `/ops/users/${id}/block`, { body: { reason } });
        showToast(t(`已停用，结束了 ${data.sessionsEnded} 个登录`, `Blocked; sessions ended: ${data.sessionsEnded}`));
        await onChange();
      });
  }

  async function unblock() {
    await call("POST", `/ops/users/${id}/unblock`);
    showToast(t("账号已恢复", "Account unblocked"));
    await onChange();
  }
}
