// The token that calls are tried with.

import { h } from "../core/dom.js";

/** Filled in by whoever reads, or by a log-in that is tried. */
export const token = {
  input: h("input", { class: "input mono", id: "token", spellcheck: "false", autocapitalize: "off", autocomplete: "off" }),
  said: h("p", { class: "small quiet", role: "status" }),
};
