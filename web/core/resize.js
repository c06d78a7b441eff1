// Pictures made smaller before they are sent: a phone's are five times as large as any screen.

import { both } from "./language.js";

/** Pixels of the longer side. */
const LONGEST = 2_048;
/** Of somebody's face. */
const FACE = 512;
const QUALITY = 0.86;

/** What is no picture, or one that this browser does not know. */
export class Unreadable extends Error {}

/** What to say of it. */
export function unreadable() {
  return both("这个文件打不开，请换一张图片", "This file cannot be opened; please take another picture");
}

/**
 * The picture in a size that suits a page, upright.
 * @param {Blob} file
 * @returns {Promise<Blob>}
 */
export async function asPicture(file) {
  const image = await decoded(file);
  const scale = Math.min(1, LONGEST / Math.max(image.width, image.height));
  const [width, height] = [Math.max(1, Math.round(image.width * scale)), Math.max(1, Math.round(image.height * scale))];
  return drawn(image, width, height, [0, 0, image.width, image.height]);
}

/**
 * The middle of the picture.
 * @param {Blob} file
 * @returns {Promise<Blob>}
 */
export async function asSquare(file) {
  const image = await decoded(file);
  const side = Math.min(image.width, image.height);
  const size = Math.min(FACE, side);
  return drawn(image, size, size, [(image.width - side) / 2, (image.height - side) / 2, side, side]);
}

/** @param {Blob} file */
async function decoded(file) {
  try {
    // As the camera was held.
    return await createImageBitmap(file, { imageOrientation: "from-image" });
  } catch {
    throw new Unreadable(file.type);
  }
}

/**
 * @param {ImageBitmap} image
 * @param {number} width
 * @param {number} height
 * @param {[number, number, number, number]} from
 * @returns {Promise<Blob>}
 */
async function drawn(image, width, height, from) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  if (!context) throw new Unreadable("no canvas");
  // JPEG knows no transparency: what is seen through is paper, and not black.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(image, ...from, 0, 0, width, height);
  image.close();
  const blob = await new Promise((/** @type {(blob: Blob | null) => void} */ done) => canvas.toBlob(done, "image/jpeg", QUALITY));
  if (!blob) throw new Unreadable("no memory");
  return blob;
}
