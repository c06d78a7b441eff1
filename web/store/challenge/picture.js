// Characters in a picture, to be typed.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { field } from "../../parts/field.js";

/**
 * @param {NonNullable<import("./kinds.js").Challenge["picture"]>} picture
 * @param {(answer: import("./kinds.js").Answer) => Promise<void>} submit
 * @param {() => Promise<void>} another asks for another picture
 * @returns {import("./kinds.js").View}
 */
export function pictureView({ image, width, height, characters }, submit, another) {
  const label = t(`图中的 ${characters} 个字`, `The ${characters} characters in the picture`);
  const typed = field(label, "input", { maxlength: 20, autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true });
  const go = h("button", { type: "submit", class: "button main" }, t("提交", "Submit"));
  const root = h("form", { class: "stack", novalidate: true, onsubmit: send },
    h("img", { class: "challenge-picture", src: image, width, height, alt: t("写着几个字的图片", "A picture with characters") }),
    typed.root,
    h("div", { class: "buttons" }, button(t("换一张", "Another picture"), another), go));
  return { root, start: () => typed.input.focus() };

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    if (go.getAttribute("aria-busy") === "true") return;
    if (typed.input.value.trim() === "") {
      typed.wrong(t("请输入图中的字", "Type the characters in the picture"));
      return;
    }
    go.setAttribute("aria-busy", "true");
    await submit({ text: typed.input.value });
    go.removeAttribute("aria-busy");
  }
}
