// A bar for lost connections.

import { isReachable, onReachable } from "../core/api.js";
import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { showToast } from "./toast.js";

/** Creates the bar, shown while the mall is unreachable. */
export function connectionBar() {
  const bar = h("p", { class: "connection", role: "alert", hidden: true });
  onReachable(() => {
    bar.hidden = isReachable();
    bar.textContent = t("连接已断开，正在重连…已完成的操作不会丢失。", "Connection lost. Reconnecting… Completed actions are safe.");
    if (isReachable()) showToast(t("已重新连接", "Reconnected"));
  });
  return bar;
}
