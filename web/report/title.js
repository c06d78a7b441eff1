// The title of the page.

import { t } from "../core/language.js";
import { unique } from "./report.js";
import { kindText } from "./words.js";

/** @param {import("./report.js").Report} report */
export function title({ results }) {
  const kinds = unique(results.map(({ kind }) => kindText(kind))).filter((kind) => kind !== "");
  const name = t("mallbox性能报告", "mallbox benchmark report");
  return kinds.length === 0 ? name : `${name}${t("：", ": ")}${kinds.join(t("、", ", "))}`;
}
