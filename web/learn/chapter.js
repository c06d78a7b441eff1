// The view of a chapter.

import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { linkButton } from "../parts/button.js";
import { CHAPTERS } from "./chapters/index.js";
import { comparisonSections } from "./comparison.js";
import { inline, say } from "./prose.js";
import { addressOf } from "./routes.js";
import { rungSection } from "./rung.js";

/** @typedef {import("./chapters/index.js").Chapter} Chapter */

/**
 * @param {Chapter} chapter
 * @param {AbortSignal} signal
 * @returns {import("../core/dom.js").Leaf[]}
 */
export function chapterView(chapter, signal) {
  const index = CHAPTERS.indexOf(chapter);
  const before = CHAPTERS[index - 1];
  const after = CHAPTERS[index + 1];
  return [
    h("h1", { id: "chapter-title", tabindex: -1 }, `${index} ${say(chapter.title)}`),
    h("p", { class: "lead measure" }, inline(chapter.lead)),
    ...chapter.rungs.map(([id, idea]) => rungSection(chapter.id, id, idea, signal)),
    ...(chapter.comparison ? comparisonSections(chapter.comparison, signal) : []),
    ...(chapter.body?.() ?? []),
    h("nav", { class: "row wrap apart neighbours", "aria-label": t("上一章和下一章", "Previous and next chapter") },
      before ? linkButton(say(before.title), addressOf(before.id), { icon: "back" }) : linkButton(t("总览", "Overview"), "#/", { icon: "back" }),
      after && linkButton(say(after.title), addressOf(after.id), { icon: "forward", look: ["main"] })),
  ];
}
