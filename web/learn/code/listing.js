// The code of a rung: imports folded, lines with a mistake set apart.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { withCode } from "../prose.js";
import { rustTokens } from "./rust.js";

/** @typedef {import("./rust.js").Token} Token */
/** @typedef {{text: string, tokens: Token[]}} Line */

/** Rungs without a file of their own have a text about the code instead. */
const CODE = /\bfn \w/;
/** Lines of code after the comment about a mistake that are set apart with the comment, at most. */
const MISTAKE_LINES = 4;
const END_OF_STATEMENT = /[;{}]$|await$/;
/** A point, at which a request can be held: the statement of interest follows. */
const POINT = /\.at\(Point::/;
/** A comment about code that several rungs share. */
const CONDITIONAL = /MISTAKE with(out)? /;

/** @param {import("../server.js").Rung} rung */
export function listing({ id, source, file }) {
  const path = h("p", { class: "quiet small" }, h("code", null, file));
  if (!CODE.test(source)) return h("div", { class: "listing" }, path, h("p", { class: "measure" }, withCode(source)));
  const lines = linesOf(source.trimEnd());
  const { from, to } = importsOf(lines);
  const name = t(`第${id}级的代码`, `The code of rung ${id}`);
  return h("div", { class: "listing" },
    path,
    from < to ? [
      from > 0 && code(lines.slice(0, from), t(`${name}：开头`, `${name}: head`)),
      h("details", { class: "imports" }, h("summary", null, t(`${to - from}行导入`, `${to - from} lines of imports`)),
        code(lines.slice(from, to), t(`${name}：导入`, `${name}: imports`))),
      code(lines.slice(to), name),
    ] : code(lines, name));
}

/**
 * @param {Line[]} lines
 * @param {string} name
 */
function code(lines, name) {
  return h("pre", { tabindex: 0, role: "group", "aria-label": name }, h("code", null,
    blocks(trimmed(lines)).map(({ isMistake, lines: block }) => (isMistake
      ? h("span", { class: "mistake" }, h("span", { class: "mistake-tag" }, tag(block[0])), block.map(line))
      : h("span", null, block.map(line))))));
}

/** @param {Line} comment */
function tag({ text }) {
  return CONDITIONAL.test(text) ? t("⚠ 有条件的错误", "⚠ a mistake under a condition") : t("⚠ 错在这里", "⚠ the mistake");
}

/**
 * Removes empty lines at the end.
 * @param {Line[]} lines
 */
function trimmed(lines) {
  return lines.slice(0, lines.findLastIndex(({ text }) => text !== "") + 1);
}

/** @param {Line} of */
function line({ tokens }) {
  return h("span", { class: "line" }, tokens.map(({ kind, text }) => (kind === "plain" ? text : h("span", { class: `code-${kind}` }, text))), "\n");
}

/**
 * Splits lines into blocks. A block with a mistake is a comment that says so, and the statement below.
 * @param {Line[]} lines
 */
function blocks(lines) {
  /** @type {{isMistake: boolean, lines: Line[]}[]} */
  const found = [];
  const isComment = (/** @type {Line | undefined} */ one) => one?.text.trimStart().startsWith("//") ?? false;
  for (let at = 0; at < lines.length;) {
    let end = at + 1;
    const isMistake = isComment(lines[at]) && lines[at].text.includes("MISTAKE");
    if (isMistake) {
      while (isComment(lines[end])) end += 1;
      for (let count = 0; count < MISTAKE_LINES && end < lines.length; count += 1) {
        end += 1;
        if (END_OF_STATEMENT.test(lines[end - 1].text) && !POINT.test(lines[end - 1].text)) break;
      }
    } else {
      while (end < lines.length && !(isComment(lines[end]) && lines[end].text.includes("MISTAKE"))) end += 1;
    }
    found.push({ isMistake, lines: lines.slice(at, end) });
    at = end;
  }
  return found;
}

/**
 * Returns the range of the imports at the beginning, with the empty lines around.
 * @param {Line[]} lines
 */
function importsOf(lines) {
  const from = lines.findIndex(({ text }) => text.startsWith("use "));
  let to = from;
  for (let at = from; at >= 0 && at < lines.length; at += 1) {
    const { text } = lines[at];
    if (text.startsWith("use ") || (at > from && /^(\s+\S.*|\};?)$/.test(text))) to = at + 1;
    else if (text !== "") break;
  }
  while (to > from && lines[to]?.text === "") to += 1;
  return { from, to };
}

/**
 * @param {string} source
 * @returns {Line[]}
 */
function linesOf(source) {
  /** @type {Line[]} */
  const lines = [{ text: "", tokens: [] }];
  for (const { kind, text } of rustTokens(source)) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) lines.push({ text: "", tokens: [] });
      const last = lines[lines.length - 1];
      last.text += part;
      if (part !== "") last.tokens.push({ kind, text: part });
    }
  }
  return lines;
}
