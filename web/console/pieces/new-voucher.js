// Makes a voucher or a flash sale, at most once.

import { call, read } from "../../core/api.js";
import { bareName, madeOnce } from "./made-once.js";

/** @typedef {import("./vouchers.js").Voucher} Voucher */
/** @typedef {Partial<import("./voucher-fields.js").VoucherText> & {shopId?: number} & Record<string, unknown>} Wanted */

export const makeSale = maker("/voucher/seckill", true);
export const makeVoucher = maker("/voucher", false);

/**
 * @param {string} path
 * @param {boolean} isSale
 */
function maker(path, isSale) {
  return madeOnce({
    // The newest come first: what was just made is on the first page.
    those: async (/** @type {Wanted} */ { shopId }) => {
      /** @type {Voucher[]} */
      const newest = (await read("/ops/vouchers", { query: { shopId } })).data;
      return newest.filter(({ sale }) => (sale !== undefined) === isSale);
    },
    id: (voucher) => voucher.id,
    marks: ({ shopId, title, payValue }) => [shopId, bareName(title), payValue],
    make: async (body) => (await call("POST", path, { body })).data,
  });
}
