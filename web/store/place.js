// Where the customer is, or says to be. Kept in the browser alone; the mall is told only to find what is near.

import { saveLocal, loadLocal } from "../core/kept.js";

/**
 * @typedef {object} Place
 * @property {number} x degrees of longitude
 * @property {number} y degrees of latitude
 * @property {string} name what the place is called; empty for where one is
 */

/** @returns {Place | null} */
export function place() {
  return JSON.parse(loadLocal("place") ?? "null");
}

/** @param {Place | null} chosen */
export function choosePlace(chosen) {
  saveLocal("place", chosen && JSON.stringify(chosen));
}

/** For a query of the API: nothing if no place is known. */
export function placeQuery() {
  const known = place();
  return known ? { x: known.x, y: known.y } : {};
}

/**
 * Asks the browser.
 * @returns {Promise<Place>}
 */
export function whereAmI() {
  return new Promise((found, failed) => {
    if (!navigator.geolocation) failed(new Error("no geolocation"));
    else
      navigator.geolocation.getCurrentPosition(
        ({ coords }) => found({ x: coords.longitude, y: coords.latitude, name: "" }),
        failed,
        { timeout: 8_000, maximumAge: 600_000 },
      );
  });
}
