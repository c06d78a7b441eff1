// A row of a list of users.

import { h } from "../../core/dom.js";
import { avatar } from "../../parts/avatar.js";
import { icon } from "../../parts/icons.js";

/** @param {import("../../core/session.js").Person} person */
export function personRow(person) {
  return h("a", { class: "card row pad person-row", href: `#/person/${person.id}` },
    avatar(person), h("strong", { class: "grow cut" }, person.nickName), icon("forward"));
}
