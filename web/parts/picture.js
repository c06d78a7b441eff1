// Pictures of the mall.

import { h } from "../core/dom.js";
import { icon } from "./icons.js";

/**
 * Where a picture is that the mall names so.
 * @param {string} path `/shops/1-1.svg`, with or without `/imgs`, or an address of its own
 */
export function pictureAddress(path) {
  if (/^(https?:|blob:|data:)/.test(path)) return path;
  const plain = path.replace(/^\/?imgs(?=\/)/, "");
  return `/imgs${plain.startsWith("/") ? "" : "/"}${plain}`;
}

/**
 * The first of the pictures that stand between commas in one text.
 * @param {string | undefined} images
 */
export function firstOf(images) {
  return allOf(images)[0];
}

/**
 * @param {string | undefined} images
 * @returns {string[]}
 */
export function allOf(images) {
  return (images ?? "").split(",").filter(Boolean);
}

/**
 * A picture that fills the box it is in.
 * @param {string | undefined} path
 * @param {string} [alt] what it shows; none where the text beside it says so
 * @param {{soon?: boolean}} [how] `soon`: it is seen at once
 */
export function picture(path, alt = "", { soon = false } = {}) {
  if (!path) return h("span", { class: "picture none" }, icon("picture"));
  return h("img", {
    class: "picture", src: pictureAddress(path), alt, decoding: "async",
    loading: soon ? undefined : "lazy", draggable: "false",
  });
}
