// A notice above stale data after a failed reload.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";

/** @param {() => unknown} retry */
export function staleNotice(retry) {
  return h("p", { class: "notice bad", role: "status" }, icon("offline"),
    h("span", { class: "grow" }, t("现在读不到，下面是以前的。", "It cannot be read now; this is from before.")),
    button(t("再试一次", "Try again"), retry));
}
