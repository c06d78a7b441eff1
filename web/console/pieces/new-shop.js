// Makes a shop or a kind of shops, at most once.

import { call, get } from "../../core/api.js";
import { bareName, madeOnce } from "./made-once.js";

/** @typedef {import("../screens/shops.js").Shop} Shop */
/** @typedef {import("../screens/shops.js").ShopType} ShopType */

/** The mall's pages of shops. */
const PAGE = 10;
/** A name that so many pages of shops have in theirs is too common to be looked for to the end. */
const MOST_PAGES = 50;

export const makeShop = madeOnce({
  those: (/** @type {{name: string}} */ { name }) => named(longestWord(name)),
  id: (shop) => shop.id,
  marks: ({ name }) => [bareName(name)],
  make: async (body) => (await call("POST", "/shop", { body })).data,
});

export const makeShopType = madeOnce({
  /** @returns {Promise<ShopType[]>} */
  those: (/** @type {{name: string}} */ _) => get("/shop-type/list"),
  id: (type) => type.id,
  marks: ({ name }) => [bareName(name)],
  make: async (body) => (await call("POST", "/shop-type", { body })).data,
});

/**
 * What of a name the mall leaves as it is.
 * @param {string} name
 */
function longestWord(name) {
  const words = name.replace(/<[^>]*>/g, " ").match(/[\p{L}\p{N}]+/gu) ?? [name.trim()];
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest));
}

/**
 * Every shop with this in its name. The newest come last.
 * @param {string} name
 */
async function named(name) {
  /** @type {Shop[]} */
  const all = [];
  for (let current = 1; current <= MOST_PAGES; current += 1) {
    /** @type {Shop[]} */
    const page = await get("/shop/of/name", { query: { name, current } });
    all.push(...page);
    if (page.length < PAGE) break;
  }
  return all;
}
