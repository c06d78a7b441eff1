// Says when the mall does not answer, and when it is back.

import { isReachable, onReachable } from "../core/api.js";
import { h } from "../core/dom.js";
import { both } from "../core/language.js";
import { say } from "./toast.js";

/** Stands above everything while the mall cannot be reached. */
export function connectionBar() {
  const bar = h("p", { class: "connection", role: "alert", hidden: true });
  onReachable(() => {
    bar.hidden = isReachable();
    bar.textContent = both("连接断开了，正在重试…已完成的不会丢失。", "The connection is lost; trying again… What was done is kept.");
    if (isReachable()) say(both("已重新连接", "Connected again"));
  });
  return bar;
}
