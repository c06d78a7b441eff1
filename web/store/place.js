// The user's place, chosen or located. Stored in the browser; sent to the server only to find shops nearby.

import { saveLocal, loadLocal } from "../core/local-storage.js";

/**
 * @typedef {object} Place
 * @property {number} x degrees of longitude
 * @property {number} y degrees of latitude
 * @property {string} name name of the place; empty for the device's location
 */

/** @returns {Place | null} */
export function place() {
  return JSON.parse(loadLocal("place") ?? "null");
}

/** @param {Place | null} chosen */
export function choosePlace(chosen) {
  saveLocal("place", chosen && JSON.stringify(chosen));
}

/** Returns query parameters for the API; empty without a place. */
export function placeQuery() {
  const current = place();
  return current ? { x: current.x, y: current.y } : {};
}

/**
 * Asks the browser for the device's location.
 * @returns {Promise<Place>}
 */
export function locate() {
  return new Promise((resolve, reject) => {
    if (!navigator.geolocation) reject(new Error("no geolocation"));
    else
      navigator.geolocation.getCurrentPosition(
        ({ coords }) => resolve({ x: coords.longitude, y: coords.latitude, name: "" }),
        reject,
        { timeout: 8_000, maximumAge: 600_000 },
      );
  });
}
