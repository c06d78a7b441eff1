/**
 * Returns the number in an input; undefined for an empty one.
 * @param {HTMLInputElement} input
 */
export function numberValue({ valueAsNumber }) {
  return Number.isNaN(valueAsNumber) ? undefined : valueAsNumber;
}
