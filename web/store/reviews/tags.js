// What a review praises.

import { t } from "../../core/language.js";

/** @typedef {"taste" | "environment" | "service"} Tag */

/** @type {Tag[]} */
export const TAGS = ["taste", "environment", "service"];

/** @param {Tag} tag */
export function tagText(tag) {
  switch (tag) {
    case "taste": return t("口味好", "Good taste");
    case "environment": return t("环境好", "Good setting");
    default: return t("服务好", "Good service");
  }
}
