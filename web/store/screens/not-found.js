// The screen of unknown addresses.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, title }) {
  const name = t("页面不存在", "Page not found");
  title(name);
  root.append(h("h1", { class: "unseen" }, name), emptyState("search", t("页面不存在。", "This page does not exist."), linkButton(t("回到首页", "Back to home"), "#/")));
}
