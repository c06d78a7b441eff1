// Kinds of security events, with their labels.

import { t } from "../core/language.js";

/** Every kind, as named by the API. */
export const SECURITY_EVENTS = /** @type {const} */ ([
  "login_code_succeeded", "login_code_failed", "login_password_succeeded", "login_password_failed", "operator_login",
  "staff_login_succeeded", "staff_login_failed",
  "code_requested", "code_refused", "password_changed", "password_change_failed",
  "second_factor_succeeded", "second_factor_failed", "second_factor_enrolled", "second_factor_removed",
  "recovery_code_used", "recovery_codes_renewed",
  "phone_changed", "account_deleted", "session_ended",
  "role_granted", "role_revoked", "user_blocked", "user_unblocked",
  "unauthenticated", "forbidden", "rate_limited", "wrong_host", "cross_site", "malformed_request", "connection_refused", "connection_refused_in_total",
  "callback_forged", "callback_contradicted", "payment_reversed",
]);

/** @typedef {typeof SECURITY_EVENTS[number]} EventName */

/** @param {EventName} event */
export function securityEventText(event) {
  switch (event) {
    case "login_code_succeeded": return t("验证码登录", "Log-in by code");
    case "login_code_failed": return t("验证码登录失败", "Failed log-in by code");
    case "login_password_succeeded": return t("密码登录", "Log-in by password");
    case "login_password_failed": return t("密码登录失败", "Failed log-in by password");
    case "operator_login": return t("管理员登录", "Operator's log-in");
    case "staff_login_succeeded": return t("店员凭PIN登录", "Staff log-in by PIN");
    case "staff_login_failed": return t("店员PIN错误", "Failed staff log-in by PIN");
    case "code_requested": return t("发送验证码", "Login code sent");
    case "code_refused": return t("未发送验证码", "Login code refused");
    case "password_changed": return t("设置密码", "Password set");
    case "password_change_failed": return t("原密码错误", "Wrong current password");
    case "second_factor_succeeded": return t("两步验证通过", "Second factor given");
    case "second_factor_failed": return t("两步验证失败", "Wrong second factor");
    case "second_factor_enrolled": return t("启用两步验证", "Second factor set up");
    case "second_factor_removed": return t("关闭两步验证", "Second factor removed");
    case "recovery_code_used": return t("使用恢复码", "Recovery code used");
    case "recovery_codes_renewed": return t("更换恢复码", "Recovery codes renewed");
    case "phone_changed": return t("更换了手机号", "Phone number changed");
    case "account_deleted": return t("注销了账号", "Account deleted");
    case "session_ended": return t("退出登录", "Log-out");
    case "role_granted": return t("任命管理员", "Operator appointed");
    case "role_revoked": return t("撤销管理员", "Operator dismissed");
    case "user_blocked": return t("停用账号", "User blocked");
    case "user_unblocked": return t("恢复账号", "User unblocked");
    case "unauthenticated": return t("未登录", "Not logged in");
    case "forbidden": return t("没有权限", "No permission");
    case "rate_limited": return t("太频繁", "Rate limited");
    case "wrong_host": return t("主机名不符", "Wrong host");
    case "cross_site": return t("跨站请求", "Cross-site request");
    case "malformed_request": return t("格式不符的请求", "Malformed request");
    case "connection_refused": return t("单个地址连接太多", "Too many connections of an address");
    case "connection_refused_in_total": return t("连接总数太多", "Too many connections in total");
    case "callback_forged": return t("支付回调签名无效", "Payment callback without a valid signature");
    case "callback_contradicted": return t("支付回调金额不符", "Payment callback with another amount");
    case "payment_reversed": return t("付款被撤回（拒付）", "Payment reversed (chargeback)");
    default: return event;
  }
}

/** @type {ReadonlySet<EventName>} */
const REFUSED = new Set(/** @type {EventName[]} */ ([
  "login_code_failed", "login_password_failed", "staff_login_failed", "code_refused", "password_change_failed", "second_factor_failed",
  "unauthenticated", "forbidden",
  "rate_limited", "wrong_host", "cross_site", "malformed_request", "connection_refused", "connection_refused_in_total",
  "callback_forged", "callback_contradicted", "payment_reversed",
]));

/**
 * Whether something was refused.
 * @param {EventName} event
 */
export function isRefusedEvent(event) {
  return REFUSED.has(event);
}
