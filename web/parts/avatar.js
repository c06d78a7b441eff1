// Somebody's face, or the first letter of their name.

import { h } from "../core/dom.js";
import { pictureAddress } from "./picture.js";

/**
 * @param {{nickName?: string, name?: string, icon?: string}} person
 * @param {{large?: boolean}} [how]
 */
export function avatar(person, { large = false } = {}) {
  const look = large ? "avatar large" : "avatar";
  if (person.icon) return h("img", { class: look, src: pictureAddress(person.icon), alt: "", loading: "lazy" });
  const name = person.nickName ?? person.name ?? "";
  return h("span", { class: `${look} letter`, "aria-hidden": "true" }, [...name][0] ?? "·");
}
