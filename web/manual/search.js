// Full-text search of the manual in the browser, over an index of all sections.

import { fetchText } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { t, language } from "../core/language.js";

/** @typedef {{topic: string, title: string, anchor: string, heading: string, text: string}} Entry */

/** Maximum number of results. */
const HITS_MAX = 20;
/** Characters of an excerpt before and after the first match. */
const BEFORE = 40;
const BEHIND = 120;

/** @type {Promise<Entry[]> | null} */
let entries = null;

/** Adds the search field to the page header. */
export function search() {
  const [place, matches, article] = ["search", "found", "article"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
  const label = t("搜索手册", "Search the manual");
  const input = h("input", { class: "input", type: "search", id: "find", spellcheck: "false", autocomplete: "off", placeholder: label, "aria-label": label });
  input.addEventListener("input", show);
  fill(place, input);

  async function show() {
    const wanted = input.value;
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    article.hidden = words.length > 0;
    matches.hidden = words.length === 0;
    if (words.length === 0) return;
    try {
      const all = await index();
      // The query changed while the index loaded.
      if (input.value === wanted) fill(matches, resultList(findMatches(all, words), words));
    } catch {
      fill(matches, h("p", { class: "notice bad", role: "alert" }, t("无法读取搜索索引", "The search index cannot be read")));
    }
  }
}

/** @returns {Promise<Entry[]>} */
function index() {
  entries ??= fetchText(`search.${language()}.json`).then(JSON.parse);
  // A failed load is retried with the next input.
  entries.catch(() => (entries = null));
  return entries;
}

/**
 * Returns the sections that contain every word, ranked by matches in headings.
 * @param {Entry[]} all
 * @param {string[]} words
 */
function findMatches(all, words) {
  const ranked = all.flatMap((entry) => {
    const heading = `${entry.title} ${entry.heading}`.toLowerCase();
    const text = entry.text.toLowerCase();
    if (!words.every((word) => heading.includes(word) || text.includes(word))) return [];
    const rank = words.filter((word) => entry.heading.toLowerCase().includes(word)).length * 2 + words.filter((word) => heading.includes(word)).length;
    return [{ entry, rank }];
  });
  return ranked.sort((a, b) => b.rank - a.rank).map(({ entry }) => entry);
}

/**
 * @param {Entry[]} matches
 * @param {string[]} words
 */
function resultList(matches, words) {
  const count = matches.length;
  const requestedLanguage = new URLSearchParams(location.search).get("lang");
  return [
    h("h1", null, t("搜索结果", "Search results")),
    h("p", { class: "quiet", role: "status" }, count === 0 ? t("没有找到。", "Nothing found.") : t(`${count}处`, count === 1 ? "1 section" : `${count} sections`)),
    h("ol", { class: "hits" }, matches.slice(0, HITS_MAX).map((entry) => h("li", null,
      h("a", { href: `${entry.topic}${requestedLanguage ? `?lang=${language()}` : ""}#${entry.anchor}` }, entry.title, entry.heading !== entry.title && ` › ${entry.heading}`),
      h("p", { class: "small" }, excerpt(entry.text, words))))),
  ];
}

/**
 * Returns the text around the first match, with all matches marked.
 * @param {string} text
 * @param {string[]} words
 * @returns {(Node | string)[]}
 */
function excerpt(text, words) {
  const first = Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0), text.length);
  const from = first === text.length ? 0 : Math.max(0, first - BEFORE);
  const part = text.slice(from, (first === text.length ? 0 : first) + BEHIND);
  const marks = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  const parts = part.split(marks).map((piece, at) => (at % 2 ? h("mark", null, piece) : piece));
  return [from > 0 ? "…" : "", ...parts, from + part.length < text.length ? "…" : ""];
}
