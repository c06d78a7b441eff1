// The screen of unknown addresses.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, title }) {
  const name = t("页面不存在", "Page not found");
  title(name);
  root.append(h("h1", { class: "unseen" }, name), emptyState("search", t("管理台没有这个页面。", "This page does not exist in the console."),
    linkButton(t("看实时数据", "Go to live metrics"), "#/live")));
}
