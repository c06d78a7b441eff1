// The vouchers that a shop sells, with the state of its flash sales.

import { get, read } from "../core/api.js";

/** @typedef {import("./cards/voucher.js").Voucher} Voucher */
/** @typedef {{ordinary: Voucher[], sales: {voucher: Voucher, live: import("../core/api.js").ApiResponse}[]}} ShopVouchers */

/**
 * @param {string} shop
 * @param {AbortSignal} signal
 * @returns {Promise<ShopVouchers>}
 */
export async function readShopVouchers(shop, signal) {
  /** @type {Voucher[]} */
  const all = await get(`/voucher/list/${shop}`, { signal });
  const ordinary = all.filter((voucher) => voucher.type === 0);
  /** @param {Voucher} voucher */
  const endTime = (voucher) => voucher.endTime ?? "";
  const [last, ...others] = all.filter((voucher) => voucher.type === 1).sort((first, second) => endTime(second).localeCompare(endTime(first)));
  if (!last) return { ordinary, sales: [] };
  /** @param {Voucher} voucher */
  const withLive = async (voucher) => ({ voucher, live: await read(`/sale/${voucher.id}`, { signal }) });
  const first = await withLive(last);
  // Sales already over by the server's clock are skipped.
  const now = first.live.data.serverTime;
  const rest = await Promise.all(others.filter((voucher) => endTime(voucher) > now).map(withLive));
  return { ordinary, sales: [first, ...rest].filter(({ live }) => live.data.state !== "ENDED") };
}
