// Conversion between yuan in input fields and cents in the API.

/**
 * Parses an amount in yuan into cents. Returns undefined for an empty text and NaN for an invalid amount.
 * @param {string} text `9.9`
 * @returns {number | undefined}
 */
export function parseCents(text) {
  const typed = text.trim();
  if (!typed) return undefined;
  return /^\d+(\.\d{0,2})?$/.test(typed) ? Math.round(Number(typed) * 100) : NaN;
}

/**
 * Formats cents as the text of an input field.
 * @param {number} cents
 */
export function formatYuanInput(cents) {
  return String(cents / 100);
}
