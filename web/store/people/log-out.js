// Logging out on this device.

import { t } from "../../core/language.js";

/** Returns the consequences of a log-out, for a confirmation. */
export function logOutText() {
  return t("这台设备上的登录会结束，草稿、搜索记录和所选位置也会删除。",
    "You will be logged out on this device. Drafts, searches and the chosen place are deleted.");
}
