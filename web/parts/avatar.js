// Somebody's picture, or a face that is drawn for them.

import { h } from "../core/dom.js";
import { face } from "./face.js";
import { pictureAddress } from "./picture.js";

/**
 * @param {{id?: number, userId?: number, nickName?: string, name?: string, icon?: string}} person or what they wrote, with a
 * `userId`
 * @param {{large?: boolean}} [how]
 */
export function avatar(person, { large = false } = {}) {
  const look = large ? "avatar large" : "avatar";
  if (person.icon) return h("img", { class: look, src: pictureAddress(person.icon), alt: "", loading: "lazy" });
  return face(person.userId ?? person.id ?? person.nickName ?? person.name ?? "", look);
}
