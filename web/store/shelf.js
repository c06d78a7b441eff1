// What a shop sells now: its vouchers, and of those in flash sales how they stand.

import { get, read } from "../core/api.js";

/** @typedef {import("./cards/voucher.js").Voucher} Voucher */
/** @typedef {{ordinary: Voucher[], sales: {voucher: Voucher, live: import("../core/api.js").ApiResponse}[]}} Shelf */

/**
 * @param {string} shop
 * @param {AbortSignal} signal
 * @returns {Promise<Shelf>}
 */
export async function readShelf(shop, signal) {
  /** @type {Voucher[]} */
  const all = await get(`/voucher/list/${shop}`, { signal });
  const ordinary = all.filter((voucher) => voucher.type === 0);
  /** @param {Voucher} voucher */
  const end = (voucher) => voucher.endTime ?? "";
  const [last, ...others] = all.filter((voucher) => voucher.type === 1).sort((one, other) => end(other).localeCompare(end(one)));
  if (!last) return { ordinary, sales: [] };
  /** @param {Voucher} voucher */
  const withLive = async (voucher) => ({ voucher, live: await read(`/sale/${voucher.id}`, { signal }) });
  const first = await withLive(last);
  // Those that are over by the mall's clock need not be asked for.
  const now = first.live.data.serverTime;
  const rest = await Promise.all(others.filter((voucher) => end(voucher) > now).map(withLive));
  return { ordinary, sales: [first, ...rest].filter(({ live }) => live.data.state !== "ENDED") };
}
