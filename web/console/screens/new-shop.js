// A new shop.

import { call, get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { go } from "../../core/router.js";
import { head } from "../../parts/bar.js";
import { say } from "../../parts/toast.js";
import { shopForm } from "../pieces/shop-form.js";

/** @param {import("../../core/router.js").Showing} showing */
export async function open({ root, signal, title }) {
  title(both("新增店铺", "New shop"));
  const types = await get("/shop-type/list", { signal });
  root.append(head(both("新增店铺", "New shop"), { home: "/shops" }),
    h("section", { class: "card pad" }, shopForm({}, types, both("创建店铺", "Create the shop"), create, signal)));

  /** @param {object} body */
  async function create(body) {
    const { data } = await call("POST", "/shop", { body });
    say(both("店铺已创建", "The shop is created"));
    go(`/shop/${data}`, { replace: true });
  }
}
