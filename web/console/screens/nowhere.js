// An address that leads nowhere.

import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { empty } from "../../parts/empty.js";

/** @param {import("../../core/router.js").Showing} showing */
export function open({ root, title }) {
  const name = both("没有这个页面", "No such page");
  title(name);
  root.append(h("h1", { class: "unseen" }, name), empty("search", both("管理台没有这个页面。", "The console has no such page."),
    linkButton(both("看实时数据", "To the live figures"), "#/live")));
}
