// A voucher of a shop.

/**
 * Rules, a line each.
 * @param {string | undefined} rules
 * @returns {string[]}
 */
export function rulesOf(rules) {
  return (rules ?? "").split(/\\n|\n/).map((rule) => rule.trim()).filter(Boolean);
}
