// An address that leads nowhere.

import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { empty } from "../../parts/empty.js";

/** @param {import("../../core/router.js").Showing} showing */
export function open({ root, title }) {
  const name = both("没有这个页面", "No such page");
  title(name);
  root.append(h("h1", { class: "unseen" }, name), empty("search", both("没有这个页面。", "There is no such page."), linkButton(both("回到首页", "To the first page"), "#/")));
}
