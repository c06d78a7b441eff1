// The picture editor of a draft: choosing, downscaling, uploading, sorting and removing.

import { call } from "../../core/api.js";
import { putBlob, getBlob, deleteBlob } from "../../core/blob-store.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { upload } from "../../core/upload.js";
import { whileBusy } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { errorMessage, showToast } from "../../parts/toast.js";
import { MAX_PICTURES } from "./draft.js";
import { pictureTile } from "./picture-tile.js";
import { UnreadableImage, resizePicture, unreadableMessage } from "../../core/resize.js";

/** @typedef {import("./draft.js").DraftPicture} DraftPicture */

/** The server deletes pictures without a note after a day. */
const UPLOAD_VALID_MS = 20 * 3_600_000;

/**
 * @param {{pictures: DraftPicture[]}} draft
 * @param {() => void} onChange
 * @param {AbortSignal} signal
 * @returns {{root: HTMLElement, uploaded: () => Promise<string[]>}} `uploaded`: resolves with all paths once
 * the uploads are complete
 */
export function pictures(draft, onChange, signal) {
  /** @type {Map<DraftPicture, import("./picture-tile.js").Tile>} */
  const tiles = new Map();
  /** @type {Map<DraftPicture, Promise<void>>} running uploads */
  const pendingUploads = new Map();
  const list = h("ul", { class: "draft-pictures", "aria-label": t("图片", "Pictures") });
  const input = h("input", { type: "file", accept: "image/*", multiple: true, class: "unseen", tabindex: "-1", "aria-hidden": "true", onchange: () => whileBusy(addButton, addFiles) });
  const addButton = h("button", { type: "button", class: "draft-add", onclick: () => input.click() }, icon("camera"), h("span", null, t("添加图片", "Add pictures")));
  const announcements = h("p", { class: "unseen", role: "status" });
  draw();
  for (const picture of draft.pictures) uploadPicture(picture).catch(() => {});
  return { root: h("div", null, list, input, announcements), uploaded };

  function draw() {
    const rows = draft.pictures.map((picture, index) => {
      const tile = tiles.get(picture) ?? pictureTile({
        move: (by) => move(picture, by), remove: () => remove(picture), again: () => uploadPicture(picture).catch(() => {}),
        drop: (onto) => place(picture, draft.pictures.findIndex((one) => tiles.get(one)?.root === onto)),
      });
      if (!tiles.has(picture)) {
        tiles.set(picture, tile);
        getBlob(picture.key).then((blob) => tile.show(blob, picture.path, signal));
      }
      tile.stands(index, draft.pictures.length);
      return tile.root;
    });
    fill(list, rows, draft.pictures.length < MAX_PICTURES && h("li", null, addButton));
    const left = MAX_PICTURES - draft.pictures.length;
    addButton.setAttribute("aria-label", t(`添加图片，还可以加 ${left} 张`, `Add pictures; ${left} more can be added`));
  }

  async function addFiles() {
    const files = [...(input.files ?? [])];
    input.value = "";
    const room = MAX_PICTURES - draft.pictures.length;
    if (files.length > room) showToast(t(`最多 ${MAX_PICTURES} 张图片`, `At most ${MAX_PICTURES} pictures`));
    for (const file of files.slice(0, room)) {
      try {
        const picture = { key: `picture-${crypto.getRandomValues(new Uint32Array(2)).join("-")}` };
        await putBlob(picture.key, await resizePicture(file));
        draft.pictures.push(picture);
        onChange();
        draw();
        uploadPicture(picture).catch(() => {});
      } catch (error) {
        if (!(error instanceof UnreadableImage)) throw error;
        showToast(unreadableMessage(), { bad: true });
      }
    }
  }

  /**
   * Uploads a picture unless its upload is running or done.
   * @param {DraftPicture} picture
   */
  function uploadPicture(picture) {
    const now = Date.now();
    if (picture.path && now - (picture.since ?? 0) < UPLOAD_VALID_MS) {
      tiles.get(picture)?.is("there");
      return Promise.resolve();
    }
    const running = pendingUploads.get(picture) ?? send(picture).finally(() => pendingUploads.delete(picture));
    pendingUploads.set(picture, running);
    return running;
  }

  /** @param {DraftPicture} picture */
  async function send(picture) {
    const tile = tiles.get(picture);
    const blob = await getBlob(picture.key);
    if (!blob) {
      tile?.is("lost", t("这张图片不在了", "This picture is gone"));
      throw new UnreadableImage(picture.key);
    }
    tile?.is("moving");
    try {
      picture.path = await upload(blob, { progress: (part) => tile?.progress(part), signal });
      picture.since = Date.now();
      tile?.is("there");
      onChange();
    } catch (error) {
      if (!signal.aborted) tile?.is("lost", errorMessage(error));
      throw error;
    }
  }

  async function uploaded() {
    for (const picture of draft.pictures) await uploadPicture(picture);
    return draft.pictures.map(({ path }) => path ?? "");
  }

  /**
   * @param {DraftPicture} picture
   * @param {number} by
   */
  function move(picture, by) {
    place(picture, draft.pictures.indexOf(picture) + by);
    tiles.get(picture)?.focus(by);
  }

  /**
   * @param {DraftPicture} picture
   * @param {number} to
   */
  function place(picture, to) {
    if (to < 0 || to >= draft.pictures.length) return;
    draft.pictures.splice(draft.pictures.indexOf(picture), 1);
    draft.pictures.splice(to, 0, picture);
    announcements.textContent = t(`现在是第 ${to + 1} 张`, `Now picture ${to + 1}`);
    onChange();
    draw();
  }

  /** @param {DraftPicture} picture */
  function remove(picture) {
    const at = draft.pictures.indexOf(picture);
    draft.pictures.splice(at, 1);
    deleteBlob(picture.key);
    // If the mall does not hear of it, it goes by itself after a day.
    if (picture.path) call("GET", "/upload/blog/delete", { query: { name: picture.path } }).catch(() => {});
    onChange();
    draw();
    announcements.textContent = t("已移除", "Removed");
    const next = draft.pictures[Math.min(at, draft.pictures.length - 1)];
    if (next) tiles.get(next)?.focus(0);
    else addButton.focus();
  }
}
