// Texts of the page in both languages, and their inline code.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";

/**
 * A text in both languages; code stands between backquotes.
 * @typedef {{zh: string, en: string}} Words
 */

/**
 * Returns the text in the current language.
 * @param {Words} words
 */
export function say(words) {
  return t(words.zh, words.en);
}

/**
 * Returns the title of a rung, which the catalogue writes as the end of a sentence.
 * @param {{title: Words}} rung
 */
export function titleOf({ title }) {
  return capital(say(title));
}

/** @param {string} text in English: its first letter becomes a capital, unless the text begins with our name */
export function capital(text) {
  return text.startsWith("mallbox") ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {Words} words */
export function inline(words) {
  return withCode(say(words));
}

/**
 * Returns the nodes of a text, with what stands between backquotes as `code` elements.
 * @param {string} text
 * @returns {(string | HTMLElement)[]}
 */
export function withCode(text) {
  return text.split("`").map((part, index) => (index % 2 === 0 ? part : h("code", null, part)));
}

/**
 * Joins the texts of a list, such as names of failures.
 * @param {string[]} parts
 */
export function joined(parts) {
  return parts.join(t("、", ", "));
}
