// Creation of shops and shop types, at most once.

import { call, get } from "../../core/api.js";
import { normalizedName, createOnce } from "./create-once.js";

/** @typedef {import("../screens/shops.js").Shop} Shop */
/** @typedef {import("../screens/shops.js").ShopType} ShopType */

/** Page size of the shop search. */
const PAGE = 10;
/** Maximum pages to search; more common names are not searched completely. */
const MOST_PAGES = 50;

export const createShop = createOnce({
  those: (/** @type {{name: string}} */ { name }) => shopsNamed(longestWord(name)),
  id: (shop) => shop.id,
  marks: ({ name }) => [normalizedName(name)],
  make: async (body) => (await call("POST", "/shop", { body })).data,
});

export const createShopType = createOnce({
  /** @returns {Promise<ShopType[]>} */
  those: (/** @type {{name: string}} */ _) => get("/shop-type/list"),
  id: (type) => type.id,
  marks: ({ name }) => [normalizedName(name)],
  make: async (body) => (await call("POST", "/shop-type", { body })).data,
});

/**
 * Returns the longest part of a name that the server stores unchanged.
 * @param {string} name
 */
function longestWord(name) {
  const words = name.replace(/<[^>]*>/g, " ").match(/[\p{L}\p{N}]+/gu) ?? [name.trim()];
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest));
}

/**
 * Returns all shops whose name contains the text; the newest come last.
 * @param {string} name
 */
async function shopsNamed(name) {
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
