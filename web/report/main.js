// The report of benchmark runs: renders the results that the page holds.

import { fill, h } from "../core/dom.js";
import { onLanguageChange, t } from "../core/language.js";
import { redrawCharts } from "./chart/figure.js";
import { openPrinted } from "./disclosure.js";
import { readResults } from "./read-results.js";
import { buildReport } from "./report.js";
import { books } from "./sections/books.js";
import { caches } from "./sections/caches.js";
import { compared } from "./sections/compared.js";
import { cost } from "./sections/cost.js";
import { failures } from "./sections/failures.js";
import { feeds } from "./sections/feeds.js";
import { growth } from "./sections/growth.js";
import { histograms } from "./sections/histograms.js";
import { latency } from "./sections/latency.js";
import { overview } from "./sections/overview.js";
import { ports } from "./sections/ports.js";
import { queues } from "./sections/queues.js";
import { rates } from "./sections/rates.js";
import { runs } from "./sections/runs.js";
import { setup } from "./sections/setup.js";
import { timeline } from "./sections/timeline.js";
import { verdict } from "./sections/verdict.js";
import { warnings } from "./sections/warnings.js";
import { title } from "./title.js";
import { renderBar } from "./top-bar.js";

const SECTIONS = [compared, overview, verdict, warnings, books, rates, latency, timeline, cost, growth, ports, queues, feeds, caches, failures, runs, setup, histograms];

const bar = /** @type {HTMLElement} */ (document.getElementById("bar"));
const screen = /** @type {HTMLElement} */ (document.getElementById("screen"));
const report = buildReport(readResults(document.getElementById("results")?.textContent ?? "[]"));

let closePrinted = () => {};

render();
onLanguageChange(render);
// A printed page has another width. The class gives the body that width before the browser lays it out.
addEventListener("beforeprint", () => printing(true));
addEventListener("afterprint", () => printing(false));

function render() {
  const open = openDetails();
  const sections = SECTIONS.flatMap((section) => section(report) ?? []);
  document.title = title(report);
  renderBar(bar, "mallbox bench");
  fill(screen, h("h1", null, title(report)), contents(sections), sections);
  for (const [index, details] of screen.querySelectorAll("details").entries()) details.open = open[index] ?? details.open;
}

/** Returns the state of every `details` element of the page, in order. */
function openDetails() {
  return [...screen.querySelectorAll("details")].map((details) => details.open);
}

/** @param {HTMLElement[]} sections */
function contents(sections) {
  return h("nav", { class: "contents", "aria-label": t("目录", "Contents") }, h("ul", null,
    sections.map((section) => h("li", null, h("a", { href: `#${section.id}` }, section.querySelector("h2")?.textContent)))));
}

/** @param {boolean} isPrinting */
function printing(isPrinting) {
  if (isPrinting) closePrinted = openPrinted();
  else closePrinted();
  document.body.classList.toggle("printing", isPrinting);
  redrawCharts();
}
