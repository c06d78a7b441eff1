// The kiosk's start screen: current sales and links.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { skeletons } from "../../parts/skeleton.js";
import { currentSales } from "../sale/current-sales.js";

const SALES = 4;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open(context) {
  const { root, title } = context;
  title(t("欢迎", "Welcome"));
  const sales = h("ul", { class: "welcome-sales" }, skeletons(2, "19rem").map((box) => h("li", null, box)));
  root.append(h("div", { class: "welcome" },
    h("header", null, h("h1", null, t("欢迎光临", "Welcome")), h("p", { class: "quiet" }, t("点一下就开始", "Tap to start"))),
    h("section", { "aria-label": t("限时秒杀", "Flash sales") }, h("h2", { class: "unseen" }, t("限时秒杀", "Flash sales")), sales),
    h("nav", { class: "welcome-ways", "aria-label": t("去哪里", "Navigation") },
      linkButton(t("全部秒杀", "All flash sales"), "#/sales", { look: ["main"], icon: "bolt" }),
      linkButton(t("看看店铺", "Browse shops"), "#/shops", { look: ["main"], icon: "shop" }),
      linkButton(t("我的订单与券码", "My orders and receipts"), "#/orders", { icon: "order" }))));
  currentSales(sales, SALES, context);
}
