// A name for a change, so that asking for it again does not make it twice.

/** 128 random bits; `crypto.randomUUID` is there only on pages that came encrypted. */
export function requestId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
