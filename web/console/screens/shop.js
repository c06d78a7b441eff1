// One shop: what it says of itself, its pictures, and its vouchers.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { head } from "../../parts/head.js";
import { linkButton } from "../../parts/button.js";
import { say } from "../../parts/toast.js";
import { shopForm } from "../pieces/shop-form.js";
import { vouchersOf } from "../pieces/vouchers.js";

/** @param {import("../../core/router.js").Showing} showing */
export async function open(showing) {
  const { root, at, signal, title } = showing;
  title(both("店铺", "Shop"));
  const [shop, types] = await Promise.all([get(`/shop/${at.id}`, { signal }), get("/shop-type/list", { signal })]);
  title(shop.name);
  root.append(
    head(shop.name, { home: "/shops", actions: [linkButton(both("看店铺页", "See its page"), `/mall/#/shop/${shop.id}`, { icon: "shop" })] }),
    h("div", { class: "stack" },
      vouchersOf(shop, showing),
      h("section", { class: "card pad stack", "aria-label": both("资料", "About it") }, h("h2", null, both("资料", "About it")),
        shopForm(shop, types, both("保存", "Save"), save, signal))));

  /** @param {object} body */
  async function save(body) {
    await call("PUT", "/shop", { body: { id: shop.id, ...body } });
    say(both("店铺已保存", "The shop is saved"));
  }
}
