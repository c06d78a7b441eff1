// A tokenizer for Rust, good enough to colour a listing.

/**
 * @typedef {"comment" | "string" | "keyword" | "type" | "number" | "attribute" | "macro"
 *   | "plain"} TokenKind
 */
/** @typedef {{kind: TokenKind, text: string}} Token */

const KEYWORDS = new Set(("as async await break const continue crate dyn else enum extern false fn for if impl in let loop "
  + "match mod move mut pub ref return self Self static struct super trait true type unsafe use where while").split(" "));

/** @type {[TokenKind, RegExp][]} */
const RULES = [
  ["comment", /\/\/.*|\/\*[^]*?\*\//y],
  ["string", /b?r(#*)"[^]*?"\1|b?"(?:\\[^]|[^"\\])*"|b?'(?:\\[^']+|[^'\\\n])'/y],
  ["attribute", /#!?\[[^\]]*\]/y],
  ["macro", /[a-z_][a-z0-9_]*!/y],
  ["number", /\d[\d_]*(?:\.\d[\d_]*)?(?:[a-z]\w*)?/y],
  ["plain", /'[a-z_]\w*/y],
  ["keyword", /[A-Za-z_]\w*/y],
  ["plain", /\s+|[^\w\s]/y],
];

/**
 * @param {string} source
 * @returns {Token[]}
 */
export function rustTokens(source) {
  /** @type {Token[]} */
  const tokens = [];
  for (let at = 0; at < source.length;) {
    const token = tokenAt(source, at);
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

/**
 * @param {string} source
 * @param {number} at
 * @returns {Token}
 */
function tokenAt(source, at) {
  for (const [kind, rule] of RULES) {
    rule.lastIndex = at;
    const text = rule.exec(source)?.[0];
    if (text) return { kind: kind === "keyword" ? kindOfWord(text) : kind, text };
  }
  return { kind: "plain", text: source[at] };
}

/**
 * @param {string} word
 * @returns {TokenKind}
 */
function kindOfWord(word) {
  if (KEYWORDS.has(word)) return "keyword";
  return /^[A-Z]/.test(word) ? "type" : "plain";
}
