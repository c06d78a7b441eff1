// Settings of the device, also of a kiosk: they stay when the kiosk forgets a customer, and after power-off.

const PREFIX = "mallbox-";

/**
 * @param {string} name
 * @returns {string | null} `null` also if storage is disabled
 */
export function loadDevice(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/**
 * Stores a setting, unless storage is disabled.
 * @param {string} name
 * @param {string} value
 */
export function saveDevice(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // The setting is lost.
  }
}
