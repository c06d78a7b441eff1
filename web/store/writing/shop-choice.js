// Which shop a note is about: found by its name.

import { get } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { failure } from "../../parts/empty.js";
import { firstOf, picture } from "../../parts/picture.js";
import { sheet } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";

/** @typedef {import("../cards/shop.js").Shop} Shop */

/** Until somebody pauses. */
const PAUSE_MS = 250;

/**
 * @returns {Promise<Shop | undefined>} nothing if none was chosen
 */
export async function chosenShop() {
  /** @type {Shop | undefined} */
  let chosen;
  const over = new AbortController();
  await sheet(both("选择店铺", "Choose a shop"), (close) => {
    const found = h("ul", { class: "shop-choices" });
    const input = h("input", { class: "input", type: "search", placeholder: both("店铺名字", "Name of the shop"), "aria-label": both("店铺名字", "Name of the shop"), oninput: later });
    let pause = 0;
    let asked = new AbortController();
    look();
    return [input, found];

    function later() {
      clearTimeout(pause);
      pause = setTimeout(look, PAUSE_MS);
    }

    async function look() {
      asked.abort();
      asked = new AbortController();
      const signal = AbortSignal.any([asked.signal, over.signal]);
      if (!found.firstChild) fill(found, skeletons(4, "3.5rem").map((box) => h("li", null, box)));
      try {
        /** @type {Shop[]} */
        const shops = (await get("/shop/of/name", { query: { name: input.value.trim(), current: 1 }, signal })) ?? [];
        fill(found, shops.length > 0 ? shops.map((shop) => h("li", null, row(shop))) : h("li", { class: "quiet" }, both("没有找到这家店。", "No such shop was found.")));
      } catch (error) {
        if (!signal.aborted) fill(found, h("li", null, failure(error, look)));
      }
    }

    /** @param {Shop} shop */
    function row(shop) {
      const pick = () => {
        chosen = shop;
        close();
      };
      return h("button", { type: "button", class: "shop-choice", onclick: pick },
        h("span", { class: "shop-choice-picture" }, picture(firstOf(shop.images))),
        h("span", { class: "grow" }, h("strong", { class: "cut" }, shop.name), h("span", { class: "small quiet cut" }, shop.area || shop.address)));
    }
  });
  over.abort();
  return chosen;
}
