// Pictures of a shop or a kind of shops: uploaded, put in order, taken away. They count once the form is saved.

import { fill, h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { Unreadable, asPicture, unreadable } from "../../core/resize.js";
import { upload } from "../../core/upload.js";
import { busy, iconButton } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { allOf, picture } from "../../parts/picture.js";

/** Bytes: what is larger is made smaller before it is sent. */
const LARGE = 1_000_000;

/**
 * @param {string} label
 * @param {string} images between commas, as the mall has them
 * @param {{most: number, signal?: AbortSignal}} how
 * @returns {import("../../parts/field.js").Field<HTMLInputElement> & {value: () => string}}
 */
export function picturesField(label, images, { most, signal }) {
  let paths = allOf(images);
  const input = h("input", { type: "file", accept: "image/*", multiple: most > 1, hidden: true, onchange: () => busy(add, take) });
  const add = h("button", { type: "button", class: "thumb thumb-add", onclick: () => input.click() }, icon("plus"), h("span", { class: "small" }, both("上传", "Upload")));
  const list = h("ul", { class: "thumbs" });
  const said = h("p", { class: "wrong", role: "alert" });
  const root = h("div", { class: "field", role: "group", "aria-label": label }, h("span", { class: "label" }, label), list, input, said);
  draw();
  return { root, input, wrong: (text) => (said.textContent = text), value: () => paths.join(",") };

  function draw() {
    fill(list, paths.map(tile), paths.length < most && h("li", null, add));
  }

  /**
   * @param {string} path
   * @param {number} index
   */
  function tile(path, index) {
    const name = both(`第 ${index + 1} 张图片`, `Picture ${index + 1}`);
    return h("li", { class: "thumb" }, picture(path, name, { soon: true }), h("span", { class: "thumb-acts" },
      index > 0 && iconButton("back", both(`${name}往前移`, `${name}: move forward`), () => put(paths.with(index, paths[index - 1]).with(index - 1, path))),
      iconButton("close", both(`移除${name}`, `${name}: remove`), () => put(paths.filter((other) => other !== path)))));
  }

  /** @param {string[]} next */
  function put(next) {
    paths = next;
    draw();
  }

  async function take() {
    said.textContent = "";
    const files = [...(input.files ?? [])].slice(0, most - paths.length);
    // The same file may be chosen again.
    input.value = "";
    try {
      for (const file of files) {
        // A drawing that is seen through, as those of kinds are, would lose that.
        const sent = file.size < LARGE ? file : await asPicture(file);
        put([...paths, await upload(sent, { signal })]);
      }
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      said.textContent = unreadable();
    }
  }
}
