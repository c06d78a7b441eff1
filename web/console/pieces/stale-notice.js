// A notice above stale data after a failed reload.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";

/** @param {() => unknown} retry */
export function staleNotice(retry) {
  return h("p", { class: "notice bad", role: "status" }, icon("offline"),
    h("span", { class: "grow" }, t("暂时无法读取，以下是之前的数据。", "The data is unavailable; the version shown is older.")),
    button(t("再试一次", "Try again"), retry));
}
