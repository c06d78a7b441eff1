// Pictures served by the mall.

import { h } from "../core/dom.js";
import { icon } from "./icons.js";

/**
 * Returns the URL of a picture path.
 * @param {string} path `/shops/1-1.svg`, with or without `/imgs`, or an absolute URL
 */
export function pictureUrl(path) {
  if (/^(https?:|blob:|data:)/.test(path)) return path;
  const relative = path.replace(/^\/?imgs(?=\/)/, "");
  return `/imgs${relative.startsWith("/") ? "" : "/"}${relative}`;
}

/**
 * Returns the first picture of a comma-separated list.
 * @param {string | undefined} images
 */
export function firstPicture(images) {
  return pictureList(images)[0];
}

/**
 * @param {string | undefined} images
 * @returns {string[]}
 */
export function pictureList(images) {
  return (images ?? "").split(",").filter(Boolean);
}

/**
 * Creates a picture that fills its container.
 * @param {string | undefined} path
 * @param {string} [alt] alternative text; empty if adjacent text describes the picture
 * @param {{eager?: boolean}} [options] `soon`: loads at once instead of lazily
 */
export function picture(path, alt = "", { eager = false } = {}) {
  if (!path) return h("span", { class: "picture none" }, icon("picture"));
  return h("img", {
    class: "picture", src: pictureUrl(path), alt, decoding: "async",
    loading: eager ? undefined : "lazy", draggable: "false",
  });
}
