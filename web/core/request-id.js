// Idempotency keys: repeating a request with the same key changes nothing more.

/** Returns 128 random bits in hex. `crypto.randomUUID` exists only on encrypted pages. */
export function newRequestId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
