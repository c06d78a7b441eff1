// Downscaling of pictures before the upload: photos of a phone are five times as large as any screen.

import { t } from "./language.js";

/** Longer side of a picture. */
const MAX_SIDE_PX = 2_048;
/** Side of an avatar. */
const AVATAR_SIDE_PX = 512;
const QUALITY = 0.86;

/** The file is no image, or of a format unknown to this browser. */
export class UnreadableImage extends Error {}

/** Returns the error message for an unreadable file. */
export function unreadableMessage() {
  return t("无法打开这个文件，请换一张图片", "This file cannot be opened. Choose another picture.");
}

/**
 * Scales a picture down to page size, upright.
 * @param {Blob} file
 * @returns {Promise<Blob>}
 */
export async function resizePicture(file) {
  const image = await decode(file);
  const scale = Math.min(1, MAX_SIDE_PX / Math.max(image.width, image.height));
  const [width, height] = [Math.max(1, Math.round(image.width * scale)), Math.max(1, Math.round(image.height * scale))];
  return encodeJpeg(image, width, height, [0, 0, image.width, image.height]);
}

/**
 * Crops the centre square of a picture and scales it down to avatar size.
 * @param {Blob} file
 * @returns {Promise<Blob>}
 */
export async function cropSquare(file) {
  const image = await decode(file);
  const side = Math.min(image.width, image.height);
  const size = Math.min(AVATAR_SIDE_PX, side);
  return encodeJpeg(image, size, size, [(image.width - side) / 2, (image.height - side) / 2, side, side]);
}

/** @param {Blob} file */
async function decode(file) {
  try {
    // Respects the EXIF orientation.
    return await createImageBitmap(file, { imageOrientation: "from-image" });
  } catch {
    throw new UnreadableImage(file.type);
  }
}

/**
 * @param {ImageBitmap} image
 * @param {number} width
 * @param {number} height
 * @param {[number, number, number, number]} from
 * @returns {Promise<Blob>}
 */
async function encodeJpeg(image, width, height, from) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  if (!context) throw new UnreadableImage("no canvas");
  // JPEG has no transparency: transparent pixels become white, not black.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(image, ...from, 0, 0, width, height);
  image.close();
  const blob = await new Promise((/** @type {(blob: Blob | null) => void} */ done) => canvas.toBlob(done, "image/jpeg", QUALITY));
  if (!blob) throw new UnreadableImage("no memory");
  return blob;
}
