/**
 * The number in a field; nothing if there is none.
 * @param {HTMLInputElement} input
 */
export function numberIn({ valueAsNumber }) {
  return Number.isNaN(valueAsNumber) ? undefined : valueAsNumber;
}
