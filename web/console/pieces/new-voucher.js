// Creation of vouchers and flash sales, at most once.

import { call, read } from "../../core/api.js";
import { normalizedName, createOnce } from "./create-once.js";

/** @typedef {import("./vouchers.js").Voucher} Voucher */
/** @typedef {Partial<import("./voucher-fields.js").VoucherText> & {shopId?: number} & Record<string, unknown>} Wanted */

export const createSale = creator("/voucher/seckill", true);
export const createVoucher = creator("/voucher", false);

/**
 * @param {string} path
 * @param {boolean} isSale
 */
function creator(path, isSale) {
  return createOnce({
    // Newest first: a new voucher is on the first page.
    those: async (/** @type {Wanted} */ { shopId }) => {
      /** @type {Voucher[]} */
      const newest = (await read("/ops/vouchers", { query: { shopId } })).data;
      return newest.filter(({ sale }) => (sale !== undefined) === isSale);
    },
    id: (voucher) => voucher.id,
    marks: ({ shopId, title, payValue }) => [shopId, normalizedName(title), payValue],
    make: async (body) => (await call("POST", path, { body })).data,
  });
}
