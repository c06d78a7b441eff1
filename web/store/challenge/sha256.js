// SHA-256 of short ASCII texts (FIPS 180-4). `crypto.subtle` is missing on pages without TLS, such as a
// kiosk's.

/** @param {number} count */
function primes(count) {
  /** @type {number[]} */
  const found = [];
  for (let number = 2; found.length < count; number += 1) if (found.every((prime) => number % prime !== 0)) found.push(number);
  return found;
}

/** The first 32 bits of the fractional part. @param {number} number */
function fraction(number) {
  return ((number - Math.floor(number)) * 2 ** 32) | 0;
}

const ROUNDS = Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));
const schedule = new Int32Array(64);

/**
 * Returns the first word of the hash of a text of at most 55 characters, all ASCII.
 * @param {string} text
 */
export function firstWord(text) {
  schedule.fill(0, 0, 16);
  for (let place = 0; place < text.length; place += 1) schedule[place >> 2] |= text.charCodeAt(place) << (24 - 8 * (place & 3));
  schedule[text.length >> 2] |= 0x80 << (24 - 8 * (text.length & 3));
  schedule[15] = text.length * 8;
  for (let place = 16; place < 64; place += 1) {
    const early = schedule[place - 15];
    const late = schedule[place - 2];
    const first = ((early >>> 7) | (early << 25)) ^ ((early >>> 18) | (early << 14)) ^ (early >>> 3);
    const second = ((late >>> 17) | (late << 15)) ^ ((late >>> 19) | (late << 13)) ^ (late >>> 10);
    schedule[place] = (schedule[place - 16] + first + schedule[place - 7] + second) | 0;
  }
  let [a, b, c, d, e, f, g, k] = START;
  for (let round = 0; round < 64; round += 1) {
    const second = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const added = (k + second + ((e & f) ^ (~e & g)) + ROUNDS[round] + schedule[round]) | 0;
    const first = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    k = g;
    g = f;
    f = e;
    e = (d + added) | 0;
    d = c;
    c = b;
    b = a;
    a = (added + ((first + ((b & c) ^ (b & d) ^ (c & d))) | 0)) | 0;
  }
  return (START[0] + a) | 0;
}
