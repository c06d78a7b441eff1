// A user's picture, or a generated one.

import { h } from "../core/dom.js";
import { generatedAvatar } from "./generated-avatar.js";
import { pictureUrl } from "./picture.js";

/**
 * @param {{id?: number, userId?: number, nickName?: string, name?: string, icon?: string}} user a user, or an
 * item with a `userId`
 * @param {{large?: boolean}} [options]
 */
export function avatar(user, { large = false } = {}) {
  const className = large ? "avatar large" : "avatar";
  if (user.icon) return h("img", { class: className, src: pictureUrl(user.icon), alt: "", loading: "lazy" });
  return generatedAvatar(user.userId ?? user.id ?? user.nickName ?? user.name ?? "", className);
}
