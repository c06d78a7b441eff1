// Pictures of a shop or a kind of shops: uploaded, put in order, taken away. They count once the form is saved.

import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { UnreadableImage, resizePicture, unreadableMessage } from "../../core/resize.js";
import { upload } from "../../core/upload.js";
import { button, iconButton } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { pictureList, picture } from "../../parts/picture.js";
import { showError } from "../../parts/toast.js";

/** Bytes: what is larger is made smaller before it is sent. */
const LARGE = 1_000_000;

/**
 * @param {string} label
 * @param {string} images between commas, as the mall has them
 * @param {{most: number, signal?: AbortSignal}} options
 * @returns {import("./form.js").Field & {value: () => string, settled: () => Promise<string>}} `settled`: once none is on its way;
 * answers why it may not be saved as it is, if it may not
 */
export function picturesField(label, images, { most, signal }) {
  let paths = pictureList(images);
  /** @type {File[]} chosen, and not uploaded */
  let failed = [];
  /** How many are on their way. */
  let coming = 0;
  let work = Promise.resolve();
  let isAwaited = false;
  /** What is wrong with one that cannot be uploaded at all. */
  let unfit = "";
  const input = h("input", { type: "file", accept: "image/*", multiple: most > 1, hidden: true, onchange: chosen });
  // A form keeps and puts back what stands in its controls.
  const values = h("input", { type: "hidden", value: images, onchange: () => put(pictureList(values.value)) });
  const add = h("button", { type: "button", class: "thumb thumb-add", onclick: () => input.click() }, icon("plus"), h("span", { class: "small" }, t("上传", "Upload")));
  const list = h("ul", { class: "thumbs" });
  const said = h("p", { class: "wrong", role: "alert" });
  const progress = h("p", { class: "small quiet thumbs-progress", role: "status" });
  const missing = h("div", { class: "row wrap", hidden: true });
  const root = h("div", { class: "field", role: "group", "aria-label": label }, h("span", { class: "label" }, label), list, input, values, progress, said, missing);
  draw();
  return { root, input, wrong: (text) => (said.textContent = text), value: () => paths.join(","), settled };

  function draw() {
    fill(list, paths.map(tile), paths.length < most && h("li", null, add));
  }

  /**
   * @param {string} path
   * @param {number} index
   */
  function tile(path, index) {
    const name = t(`第 ${index + 1} 张图片`, `Picture ${index + 1}`);
    return h("li", { class: "thumb" }, picture(path, name, { eager: true }), h("span", { class: "thumb-acts" },
      index > 0 && iconButton("back", t(`${name}往前移`, `${name}: move forward`), () => put(paths.with(index, paths[index - 1]).with(index - 1, path))),
      iconButton("close", t(`移除${name}`, `${name}: remove`), () => put(paths.filter((other) => other !== path)))));
  }

  /** @param {string[]} next */
  function put(next) {
    paths = next;
    draw();
    if (values.value === paths.join(",")) return;
    values.value = paths.join(",");
    values.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function chosen() {
    const files = [...(input.files ?? [])];
    // The same file may be chosen again.
    input.value = "";
    take(files);
  }

  /**
   * After those that are on their way.
   * @param {File[]} files
   */
  function take(files) {
    said.textContent = unfit = "";
    const some = files.slice(0, most - paths.length - coming);
    coming += some.length;
    sayProgress();
    work = work.then(() => uploaded(some));
  }

  /** @param {File[]} files */
  async function uploaded(files) {
    for (const file of files) {
      try {
        // A drawing that is seen through, as those of kinds are, would lose that.
        const sent = file.size < LARGE ? file : await resizePicture(file);
        put([...paths, await upload(sent, { signal })]);
      } catch (error) {
        if (signal?.aborted) return;
        // To try again would not help.
        if (error instanceof UnreadableImage) said.textContent = unfit = unreadableMessage();
        else {
          failed.push(file);
          showError(error);
        }
      }
      coming -= 1;
      sayProgress();
    }
    sayMissing();
  }

  function sayProgress() {
    add.setAttribute("aria-busy", String(coming > 0));
    const text = t(`还有 ${coming} 张图片在上传…`, `Pictures still on their way: ${coming}…`);
    progress.textContent = coming === 0 ? "" : isAwaited ? t(`传完就保存，${text}`, `${text} Saved once they are there.`) : text;
  }

  /** With what can be done about it. */
  function sayMissing() {
    missing.hidden = failed.length === 0;
    fill(missing, h("span", { class: "small" }, missingText()),
      button(t("再传一次", "Try again"), again), button(t("不要了", "Leave them out"), leave));
  }

  function missingText() {
    return t(`${failed.length} 张图片没有传上去`, `Pictures that were not uploaded: ${failed.length}`);
  }

  function again() {
    const files = failed;
    leave();
    take(files);
  }

  function leave() {
    failed = [];
    said.textContent = "";
    sayMissing();
  }

  async function settled() {
    isAwaited = true;
    sayProgress();
    await work;
    isAwaited = false;
    // The rest was given up with the screen.
    if (signal?.aborted) return missingText();
    if (failed.length > 0) return t("有图片没有传上去：请再传一次，或者不要它", "Not all pictures are uploaded: try again, or leave them out");
    // Said once: it is saved without it then.
    const text = unfit;
    unfit = "";
    return text;
  }
}
