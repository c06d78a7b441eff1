// The token for trying calls.

import { h } from "../core/dom.js";

/** Filled in by the user or by a login tried on the page. */
export const token = {
  input: h("input", { class: "input mono", id: "token", spellcheck: "false", autocapitalize: "off", autocomplete: "off" }),
  said: h("p", { class: "small quiet", role: "status" }),
};
