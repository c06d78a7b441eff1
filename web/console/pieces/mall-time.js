// Moments of the server, in milliseconds since 1970, shown in the mall's time zone.

import { readiness } from "../../core/api.js";

/** @type {Promise<Intl.DateTimeFormat> | undefined} */
let format;

/**
 * Returns a function that formats moments as `2026-11-21 20:00:00.123`, or without the date. Without a known
 * zone of the mall, the device's zone is used.
 * @returns {Promise<(at: number, parts?: {date?: boolean}) => string>}
 */
export async function mallTime() {
  format ??= readiness().then(({ zone }) => formatIn(zone), () => {
    // Asked again by the next screen.
    format = undefined;
    return formatIn(undefined);
  });
  const known = await format;
  return (at, { date = true } = {}) => {
    const { year, month, day, hour, minute, second } = Object.fromEntries(known.formatToParts(at).map(({ type, value }) => [type, value]));
    const time = `${hour}:${minute}:${second}.${String(Math.floor(at % 1_000)).padStart(3, "0")}`;
    return date ? `${year}-${month}-${day} ${time}` : time;
  };
}

/** @param {string | undefined} timeZone name of the zone; other texts stand for the device's zone */
function formatIn(timeZone) {
  /** @type {Intl.DateTimeFormatOptions} */
  const parts = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  try {
    return new Intl.DateTimeFormat("en-GB", { ...parts, timeZone });
  } catch {
    return new Intl.DateTimeFormat("en-GB", parts);
  }
}
