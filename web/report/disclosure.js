// Disclosures that keep a long report short. Those of class `printed` are open on paper.

import { h } from "../core/dom.js";
import { capital, workloadText } from "./words.js";

/** The workload that is open at first. */
const OPEN = "flash sale";

/**
 * @param {string} workload
 * @param {"h3" | "h4"} heading
 * @param {boolean} isPrinted
 * @param {import("../core/dom.js").Leaf[]} about stands in the summary after the heading
 * @param {...import("../core/dom.js").Child} children
 */
export function workloadDisclosure(workload, heading, isPrinted, about, ...children) {
  return h("details", { class: isPrinted ? "workload printed" : "workload", open: workload === OPEN },
    h("summary", null, h(heading, null, capital(workloadText(workload))), about.flatMap((part) => [" ", part])),
    h("div", { class: "stack" }, ...children));
}

/** Opens what is printed. Returns a function that closes again what was closed. */
export function openPrinted() {
  const closed = [...document.querySelectorAll("details.printed:not([open])")].filter((one) => one instanceof HTMLDetailsElement);
  for (const details of closed) details.open = true;
  return () => closed.forEach((details) => { details.open = false; });
}
