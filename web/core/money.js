// Yuan as people type them, and cents as the mall counts.

/**
 * Cents; nothing for an empty text, and no number for one that is no amount.
 * @param {string} text `9.9`
 * @returns {number | undefined}
 */
export function centsOf(text) {
  const typed = text.trim();
  if (!typed) return undefined;
  return /^\d+(\.\d{0,2})?$/.test(typed) ? Math.round(Number(typed) * 100) : NaN;
}

/**
 * As it would be typed.
 * @param {number} cents
 */
export function yuanOf(cents) {
  return String(cents / 100);
}
