// People: found, kept out, let in again, made operators.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { knownMe } from "../../core/session.js";
import { avatar } from "../../parts/avatar.js";
import { button } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { empty } from "../../parts/empty.js";
import { confirmed } from "../../parts/sheet.js";
import { say } from "../../parts/toast.js";
import { roleText } from "../names.js";
import { askedWhy } from "../pieces/asked.js";
import { exactly } from "../pieces/exactly.js";
import { filters } from "../pieces/filters.js";
import { heading } from "../pieces/heading.js";
import { listing } from "../pieces/listing.js";
import { table } from "../pieces/table.js";

/**
 * As `GET /ops/users` tells them.
 * @typedef {object} User
 * @property {number} id
 * @property {string} phone
 * @property {string} nickName
 * @property {string} icon
 * @property {"customer" | "operator"} role
 * @property {string} createTime
 * @property {{since: string, reason: string}} [blocked]
 */

const BY = ["phone", "name", "role", "blocked"];

/** @param {import("../../core/router.js").Showing} showing */
export function open(showing) {
  const { root, at, signal, title } = showing;
  title(both("用户", "Users"));
  const list = listing(showing, {
    size: 20,
    load: async (current) => {
      if (at.id) return { rows: [await get(`/ops/users/${at.id}`, { signal })].filter((user) => fits(user, at)) };
      const wanted = Object.fromEntries(BY.filter((name) => at[name]).map((name) => [name, at[name]]));
      return { rows: await get("/ops/users", { query: { ...wanted, current }, signal }) };
    },
    draw: (rows, reload) => table(both("用户", "Users"), columns(reload), rows),
    none: () => empty("people", both("没有这样的用户。", "No such user.")),
  });
  root.append(heading(both("用户", "Users")), filters(at, [
    { name: "phone", label: both("手机号开头", "Phone begins with"), attributes: { inputmode: "numeric" } },
    { name: "name", label: both("昵称里有", "Name contains") },
    { name: "role", label: both("角色", "Role"), options: [
      { value: "", text: both("全部", "All") }, { value: "customer", text: roleText("customer") }, { value: "operator", text: roleText("operator") },
    ] },
    { name: "blocked", label: both("账号", "Account"), options: [
      { value: "", text: both("全部", "All") }, { value: "true", text: both("已停用", "Blocked") },
    ] },
    { name: "id", label: both("用户编号", "User"), attributes: { inputmode: "numeric", pattern: "\\d{1,19}" } },
  ]), list.root);
}

/**
 * Whether somebody who was found by number is what the other filters want.
 * @param {User} user
 * @param {Record<string, string>} at
 */
function fits({ phone, nickName, role, blocked }, at) {
  return phone.startsWith(at.phone ?? "") && nickName.includes(at.name ?? "") && (!at.role || role === at.role)
    && (!at.blocked || String(blocked !== undefined) === at.blocked);
}

/**
 * @param {() => unknown} changed
 * @returns {import("../pieces/table.js").Column<User>[]}
 */
function columns(changed) {
  return [
    { title: both("用户", "User"), look: "wide", cell: (user) => h("span", { class: "row" }, avatar(user), h("span", null, user.nickName)) },
    { title: both("编号", "Id"), look: "number", cell: ({ id }) => id },
    { title: both("手机号", "Phone"), cell: ({ phone }) => h("span", { class: "number" }, phone) },
    { title: both("角色", "Role"), cell: ({ role }) => (role === "operator" ? chip(roleText(role), "accent") : roleText(role)) },
    { title: both("账号", "Account"), look: "wide", cell: ({ blocked }) => (blocked
      ? [chip(both("已停用", "Blocked"), "bad"), h("span", { class: "small quiet detail" }, blocked.reason, " · ", exactly(blocked.since))] : both("正常", "In order")) },
    { title: both("加入", "Joined"), cell: ({ createTime }) => exactly(createTime) },
    { title: both("操作", "Do"), look: "acts", cell: (user) => acts(user, changed) },
  ];
}

/**
 * @param {User} user
 * @param {() => unknown} changed
 */
function acts({ id, nickName, role, blocked }, changed) {
  const isMe = knownMe()?.id === id;
  const other = role === "operator" ? "customer" : "operator";
  return [
    h("a", { class: "button", href: `#/orders?user=${id}` }, both("订单", "Orders")),
    button(other === "operator" ? both("设为管理员", "Make operator") : both("收回管理", "Make customer"), changeRole),
    blocked ? button(both("恢复", "Unblock"), unblock) : !isMe && button(both("停用", "Block"), block, { look: ["danger"] }),
  ];

  async function changeRole() {
    const isSure = await confirmed(both(`把 ${nickName} 改为${roleText(other)}？`, `Make ${nickName} ${other === "operator" ? "an operator" : "a customer"}?`),
      other === "operator" ? both("管理员可以做这里的一切。", "An operator may do everything here.")
        : isMe ? both("您将不能再进入管理台。", "You will not get into the console any more.") : both("之后不能再进入管理台。", "They will not get into the console any more."),
      both("确定", "Do it"));
    if (!isSure) return;
    await call("PUT", `/ops/users/${id}/role`, { body: { role: other } });
    say(both("角色已修改", "The role is changed"));
    await changed();
  }

  function block() {
    return askedWhy(both(`停用 ${nickName} 的账号？`, `Block ${nickName}?`),
      both("所有登录立即失效，不能再登录、抢购或发布。", "Every session of theirs ends at once; they cannot log in, buy or write."), both("停用", "Block"), async (reason) => {
        const { data } = await call("POST", `/ops/users/${id}/block`, { body: { reason } });
        say(both(`已停用，结束了 ${data.sessionsEnded} 个登录`, `Blocked; sessions ended: ${data.sessionsEnded}`));
        await changed();
      });
  }

  async function unblock() {
    await call("POST", `/ops/users/${id}/unblock`);
    say(both("账号已恢复", "They can log in again"));
    await changed();
  }
}
