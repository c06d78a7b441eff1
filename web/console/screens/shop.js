// A shop for operators: data, pictures and vouchers.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { screenHeader } from "../../parts/screen-header.js";
import { linkButton } from "../../parts/button.js";
import { showToast } from "../../parts/toast.js";
import { shopForm } from "../pieces/shop-form.js";
import { vouchersOf } from "../pieces/vouchers.js";

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open(context) {
  const { root, params, signal, title } = context;
  title(t("店铺", "Shop"));
  const [shop, types] = await Promise.all([get(`/shop/${params.id}`, { signal }), get("/shop-type/list", { signal })]);
  title(shop.name);
  root.append(
    screenHeader(shop.name, { home: "/shops", actions: [linkButton(t("看店铺页", "View in the storefront"), `/mall/#/shop/${shop.id}`, { icon: "shop" })] }),
    h("div", { class: "stack" },
      vouchersOf(shop, context),
      h("section", { class: "card pad stack", "aria-label": t("资料", "Details") }, h("h2", null, t("资料", "Details")),
        shopForm(shop, types, t("保存", "Save"), save, signal))));

  /** @param {object} body */
  async function save(body) {
    await call("PUT", "/shop", { body: { id: shop.id, ...body } });
    showToast(t("店铺已保存", "Shop saved"));
  }
}
