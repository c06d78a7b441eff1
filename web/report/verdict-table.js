// Verdicts of experiments on ways: a row for each way, a column for each question.

import { t } from "../core/language.js";
import { unique } from "./report.js";
import { table } from "./table.js";

/** @typedef {import("./result.js").WayVerdict} WayVerdict */
/** @typedef {import("./table.js").Column<string>} WayColumn */
/** @typedef {(code: string) => string} Words */

/**
 * @param {WayVerdict[]} verdicts
 * @param {{question: Words, verdict: Words}} words
 * @param {(ways: string[]) => WayColumn[]} [further] columns
 */
export function verdictTable(verdicts, words, further = () => []) {
  const of = (/** @type {string} */ way, /** @type {string} */ question) => verdicts.filter((verdict) => verdict.way === way && verdict.question === question);
  const ways = unique(verdicts.map(({ way }) => way));
  return table(t("各种方式的结论", "Verdicts by way"), [
    { title: t("方式", "Way"), cell: (way) => way, look: "name" },
    ...unique(verdicts.map(({ question }) => question)).map((question) => (/** @type {WayColumn} */ ({
      title: words.question(question), cell: (way) => of(way, question).map((verdict) => verdictText(verdict, words.verdict)).join(t("；", "; ")) || "–", look: "text",
    }))),
    ...further(ways),
  ], ways);
}

/**
 * @param {WayVerdict} verdict
 * @param {Words} words
 */
function verdictText({ verdicts, is_expected }, words) {
  const runs = verdicts.reduce((sum, [, count]) => sum + count, 0);
  const texts = verdicts.map(([verdict, count]) => words(verdict) + (count === runs ? "" : t(`（${runs}次中${count}次）`, ` (${count} of ${runs})`)));
  return texts.join(t("，", ", ")) + (is_expected ? "" : t("（与预期不同）", " (not expected)"));
}
