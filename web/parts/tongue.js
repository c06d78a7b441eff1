// The other language.

import { h } from "../core/dom.js";
import { both, language, speak } from "../core/language.js";

/** @param {() => void} [first] what is done before */
export function tongue(first) {
  return h("button", {
    class: "link small", type: "button", lang: both("en", "zh-CN"), onclick: () => {
      first?.();
      speak(language() === "zh" ? "en" : "zh");
    },
  }, both("English", "中文"));
}
