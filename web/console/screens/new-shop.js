// Creation of a shop.

import { get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { go } from "../../core/router.js";
import { screenHeader } from "../../parts/screen-header.js";
import { showToast } from "../../parts/toast.js";
import { alreadyCreatedText } from "../pieces/create-once.js";
import { createShop } from "../pieces/new-shop.js";
import { shopForm } from "../pieces/shop-form.js";

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title }) {
  title(t("新增店铺", "New shop"));
  const types = await get("/shop-type/list", { signal });
  root.append(screenHeader(t("新增店铺", "New shop"), { home: "/shops" }),
    h("section", { class: "card pad" }, shopForm({}, types, t("创建店铺", "Create shop"), create, signal)));

  /** @param {{name: string} & Record<string, unknown>} body */
  async function create(body) {
    const { id, wasMade } = await createShop(body);
    showToast(wasMade ? alreadyCreatedText() : t("店铺已创建", "Shop created"));
    if (!signal.aborted) go(`/shop/${id}`, { replace: true });
  }
}
