// A form field for pictures: uploading, sorting and removing. Changes take effect when the form is saved.

import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { UnreadableImage, resizePicture, unreadableMessage } from "../../core/resize.js";
import { upload } from "../../core/upload.js";
import { button, iconButton } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { pictureList, picture } from "../../parts/picture.js";
import { showError } from "../../parts/toast.js";

/** Larger files are downscaled before the upload. */
const RESIZE_ABOVE_BYTES = 1_000_000;

/**
 * @param {string} label
 * @param {string} images comma-separated paths
 * @param {{most: number, signal?: AbortSignal}} options
 * @returns {import("./form.js").Field & {value: () => string, settled: () => Promise<string>}} `settled`:
 * waits for uploads and returns an error text or an empty one
 */
export function picturesField(label, images, { most, signal }) {
  let paths = pictureList(images);
  /** @type {File[]} files that failed to upload */
  let failed = [];
  /** Number of uploads in progress. */
  let uploading = 0;
  let uploadQueue = Promise.resolve();
  let isSubmitting = false;
  /** Error of the last unreadable file. */
  let invalidFileError = "";
  const input = h("input", { type: "file", accept: "image/*", multiple: most > 1, hidden: true, onchange: onFilesChosen });
  // Forms restore the values of their controls.
  const values = h("input", { type: "hidden", value: images, onchange: () => setPaths(pictureList(values.value)) });
  const add = h("button", { type: "button", class: "thumb thumb-add", onclick: () => input.click() }, icon("plus"), h("span", { class: "small" }, t("上传", "Upload")));
  const list = h("ul", { class: "thumbs" });
  const errorLine = h("p", { class: "wrong", role: "alert" });
  const progress = h("p", { class: "small quiet thumbs-progress", role: "status" });
  const failedRow = h("div", { class: "row wrap", hidden: true });
  const root = h("div", { class: "field", role: "group", "aria-label": label }, h("span", { class: "label" }, label), list, input, values, progress, errorLine, failedRow);
  draw();
  return { root, input, wrong: (text) => (errorLine.textContent = text), value: () => paths.join(","), settled: whenUploaded };

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
      index > 0 && iconButton("back", t(`${name}往前移`, `${name}: move forward`), () => setPaths(paths.with(index, paths[index - 1]).with(index - 1, path))),
      iconButton("close", t(`移除${name}`, `${name}: remove`), () => setPaths(paths.filter((other) => other !== path)))));
  }

  /** @param {string[]} next */
  function setPaths(next) {
    paths = next;
    draw();
    if (values.value === paths.join(",")) return;
    values.value = paths.join(",");
    values.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function onFilesChosen() {
    const files = [...(input.files ?? [])];
    // Allows choosing the same file again.
    input.value = "";
    enqueue(files);
  }

  /**
   * Queues files for upload.
   * @param {File[]} files
   */
  function enqueue(files) {
    errorLine.textContent = invalidFileError = "";
    const accepted = files.slice(0, most - paths.length - uploading);
    uploading += accepted.length;
    showProgress();
    uploadQueue = uploadQueue.then(() => uploadAll(accepted));
  }

  /** @param {File[]} files */
  async function uploadAll(files) {
    for (const file of files) {
      try {
        // Downscaling would remove transparency, which small icons often have.
        const sent = file.size < RESIZE_ABOVE_BYTES ? file : await resizePicture(file);
        setPaths([...paths, await upload(sent, { signal })]);
      } catch (error) {
        if (signal?.aborted) return;
        // Retrying an unreadable file cannot succeed.
        if (error instanceof UnreadableImage) errorLine.textContent = invalidFileError = unreadableMessage();
        else {
          failed.push(file);
          showError(error);
        }
      }
      uploading -= 1;
      showProgress();
    }
    showFailed();
  }

  function showProgress() {
    add.setAttribute("aria-busy", String(uploading > 0));
    const text = t(`还有 ${uploading} 张图片在上传…`, `Pictures uploading: ${uploading}…`);
    progress.textContent = uploading === 0 ? "" : isSubmitting ? t(`上传完成后自动保存，${text}`, `${text} The form is saved afterwards.`) : text;
  }

  /** Shows failed uploads with a choice to retry or discard. */
  function showFailed() {
    failedRow.hidden = failed.length === 0;
    fill(failedRow, h("span", { class: "small" }, failedText()),
      button(t("重新上传", "Try again"), retryFailed), button(t("移除", "Discard"), discardFailed));
  }

  function failedText() {
    return t(`${failed.length} 张图片上传失败`, `Failed uploads: ${failed.length}`);
  }

  function retryFailed() {
    const files = failed;
    discardFailed();
    enqueue(files);
  }

  function discardFailed() {
    failed = [];
    errorLine.textContent = "";
    showFailed();
  }

  async function whenUploaded() {
    isSubmitting = true;
    showProgress();
    await uploadQueue;
    isSubmitting = false;
    // Remaining uploads were aborted with the screen.
    if (signal?.aborted) return failedText();
    if (failed.length > 0) return t("有图片上传失败：请重试或移除", "Some uploads failed: try again or discard them");
    // Reported once: the next submission saves without the file.
    const text = invalidFileError;
    invalidFileError = "";
    return text;
  }
}
