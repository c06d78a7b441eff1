// A worker: finds a number for which SHA-256 of `salt:number` begins with zero bits.

import { firstWord } from "./sha256.js";

/** Numbers tried between two reports. */
const REPORT_EVERY = 20_000;

addEventListener("message", ({ data: { salt, bits } }) => {
  for (let number = 0; ; number += 1) {
    // At most 26 bits are asked for: the first word decides.
    if (Math.clz32(firstWord(`${salt}:${number}`)) >= bits) {
      postMessage({ number: String(number) });
      return;
    }
    if (number % REPORT_EVERY === 0) postMessage({ tried: number });
  }
});
