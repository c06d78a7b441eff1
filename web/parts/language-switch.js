// A button that switches to the other language.

import { h } from "../core/dom.js";
import { t, language, setLanguage } from "../core/language.js";

/** @param {() => void} [before] called before the switch */
export function languageSwitch(before) {
  return h("button", {
    class: "link small", type: "button", lang: t("en", "zh-CN"), onclick: () => {
      before?.();
      setLanguage(language() === "zh" ? "en" : "zh");
    },
  }, t("English", "中文"));
}
