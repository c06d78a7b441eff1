// A picture of a draft: upload state, position and controls.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { iconButton } from "../../parts/button.js";
import { pictureUrl } from "../../parts/picture.js";

/**
 * @typedef {object} Tile
 * @property {HTMLLIElement} root
 * @property {(blob: Blob | undefined, path: string | undefined, signal: AbortSignal) => void} show shows the
 * local picture, or else the uploaded one
 * @property {(state: "moving" | "there" | "lost", why?: string) => void} is
 * @property {(part: number) => void} progress from 0 to 1
 * @property {(index: number, count: number) => void} stands
 * @property {(by: number) => void} focus focuses the button that moved the picture by this step; 0: the
 * remove button
 */

/** The dragged tile. */
let dragged = /** @type {HTMLElement | null} */ (null);

/**
 * @param {object} does
 * @param {(by: number) => void} does.move
 * @param {() => void} does.remove
 * @param {() => void} does.again
 * @param {(onto: Element) => void} does.drop dropped on another tile
 * @returns {Tile}
 */
export function pictureTile({ move: onMove, remove: onRemove, again: onRetry, drop: onDrop }) {
  const image = h("img", { class: "picture", alt: "", draggable: "false" });
  const bar = h("progress", { max: 1, value: 0, hidden: true });
  const retry = h("button", { type: "button", class: "draft-again", hidden: true, onclick: onRetry });
  const [left, right, removeButton] = [
    iconButton("back", "", () => onMove(-1)), iconButton("forward", "", () => onMove(1)), iconButton("close", "", onRemove),
  ];
  removeButton.classList.add("draft-gone");
  const cover = h("span", { class: "draft-cover", hidden: true }, t("封面", "Cover"));
  const root = h("li", { class: "draft-picture", draggable: "true" }, image, bar, retry, cover, removeButton, h("div", { class: "draft-moves" }, left, right));
  root.addEventListener("dragstart", () => (dragged = root));
  root.addEventListener("dragover", (event) => dragged && event.preventDefault());
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    if (dragged && dragged !== root) dragged.dispatchEvent(new CustomEvent("let-go", { detail: root }));
    dragged = null;
  });
  root.addEventListener("let-go", (event) => onDrop(/** @type {CustomEvent<Element>} */ (event).detail));

  return {
    root,
    show: (blob, path, signal) => {
      if (!blob) {
        if (path) image.src = pictureUrl(path);
        return;
      }
      const address = URL.createObjectURL(blob);
      image.src = address;
      signal.addEventListener("abort", () => URL.revokeObjectURL(address));
    },
    is: (state, why = "") => {
      bar.hidden = state !== "moving";
      if (state === "moving") bar.value = 0;
      retry.hidden = state !== "lost";
      retry.textContent = t(`上传失败，点击重试`, `Upload failed; try again`);
      retry.title = why;
      root.classList.toggle("is-there", state === "there");
    },
    progress: (part) => (bar.value = part),
    stands: (index, count) => {
      const name = t(`第 ${index + 1} 张图片`, `picture ${index + 1}`);
      image.alt = name;
      bar.setAttribute("aria-label", t(`${name}正在上传`, `Uploading ${name}`));
      cover.hidden = index !== 0;
      left.disabled = index === 0;
      right.disabled = index === count - 1;
      setLabel(left, t(`${name}往前移`, `Move ${name} forward`));
      setLabel(right, t(`${name}往后移`, `Move ${name} back`));
      setLabel(removeButton, t(`移除${name}`, `Remove ${name}`));
    },
    focus: (step) => {
      const target = step === 0 ? removeButton : step < 0 ? left : right;
      (target.disabled ? removeButton : target).focus();
    },
  };
}

/**
 * @param {HTMLElement} element
 * @param {string} text
 */
function setLabel(element, text) {
  element.setAttribute("aria-label", text);
  element.title = text;
}
