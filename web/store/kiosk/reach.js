// Controls within reach: on an upright screen, a button moves the page into the lower half, for people who sit
// or are small.

import { t } from "../../core/language.js";
import { h } from "../../core/dom.js";
import { icon } from "../../parts/icons.js";

const LOOK = "lowered";

/** Creates the button; the style shows it on upright screens only. */
export function reachButton() {
  const root = h("button", { class: "tab reach", type: "button", "aria-pressed": String(isLowered()), onclick: toggle }, icon("down"), h("span", null, t("放低", "Lower")));

  function toggle() {
    document.documentElement.classList.toggle(LOOK);
    root.setAttribute("aria-pressed", String(isLowered()));
  }

  return root;
}

/** Moves the page up again, for the next visitor. */
export function endReach() {
  document.documentElement.classList.remove(LOOK);
}

function isLowered() {
  return document.documentElement.classList.contains(LOOK);
}
