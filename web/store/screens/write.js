// Writing a note. The draft stays in the browser until published, and is published once.

import { Refusal, Unreachable, get, isReachable, onReachable } from "../../core/api.js";
import { invalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { address, go } from "../../core/router.js";
import { me } from "../../core/session.js";
import { screenHeader } from "../../parts/screen-header.js";
import { whileBusy, button, iconButton, linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { icon } from "../../parts/icons.js";
import { confirmAction } from "../../parts/sheet.js";
import { shopPicker } from "../../parts/shop-picker.js";
import { errorMessage, showToast, showError } from "../../parts/toast.js";
import { requireLogin, redirectIfUnauthorized } from "../login-guard.js";
import { loadDraft, deleteDraft, isEmpty, saveDraft } from "../writing/draft.js";
import { pictures } from "../writing/pictures.js";
import { contentOf, publish, findPublished } from "../writing/publish.js";
import { UnreadableImage } from "../../core/resize.js";

const MAX_TITLE_LENGTH = 255;
const MAX_TEXT_LENGTH = 2_048;
/** Automatic retries after a reconnect: number and delay. */
const TRIES = 5;
const TRY_AFTER_MS = 1_000;

/**
 * Publications in progress by author: the screen may be left and reopened meanwhile.
 * @type {Map<number, Promise<number>>}
 */
const underWay = new Map();

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title: name }) {
  name(t("写笔记", "Write a note"));
  if (isKiosk) {
    root.append(emptyState("edit", t("请用自己的手机写笔记。", "Please write notes on your own phone."),
      linkButton(t("看看热门笔记", "Browse popular notes"), "#/notes")));
    return;
  }
  if (!requireLogin()) return;
  const author = await me();
  if (!author || signal.aborted) return;
  const writer = author.id;
  const draft = loadDraft(writer);
  const keep = () => saveDraft(writer, draft);

  const title = field(t("标题", "Title"), "input", { maxlength: MAX_TITLE_LENGTH, required: true, value: draft.title, placeholder: t("一句话说说最想分享的", "The one thing you want to share") });
  const text = field(t("正文", "Text"), "textarea", { class: "write-text", maxlength: MAX_TEXT_LENGTH, placeholder: t("味道、环境、服务……写下你的体验", "Taste, place, service: how was it?") }, draft.text);
  const images = pictures(draft, keep, signal);
  const shop = h("div", null);
  /** @type {ReturnType<typeof shopPicker> | undefined} */
  let choice;
  const submit = h("button", { type: "submit", class: "button main wide" }, t("发布", "Publish"));
  const notice = h("div", { role: "status" });
  const inside = h("fieldset", { class: "stack write" }, h("legend", { class: "unseen" }, t("笔记", "Note")), images.root, title.root, text.root, shop);
  const clear = iconButton("trash", t("清空草稿", "Clear the draft"), clearDraft);
  root.append(h("div", { class: "write-page" }, screenHeader(t("写笔记", "Write a note"), { home: "/notes", actions: [clear] }),
    h("form", { class: "stack", novalidate: true, onsubmit: submitForm }, h("div", { class: "card pad" }, inside), notice, submit,
      h("p", { class: "quiet small" }, t("草稿会自动保存在这台设备上，退出登录时删除。", "The draft is saved on this device as you write, until you log out.")))));
  title.input.addEventListener("input", () => {
    draft.title = title.input.value;
    keep();
  });
  text.input.addEventListener("input", () => {
    draft.text = text.input.value;
    keep();
  });
  /** Remaining automatic retries; none while the user edits. */
  let tries = 0;
  onReachable(retryLater, signal);
  showShopPicker();
  await Promise.all([presetShop(), resolveDoubt()]);

  /** The shop from the address. */
  async function presetShop() {
    const id = Number(params.shop);
    if (!id || draft.shop?.id === id) return;
    const found = await get(`/shop/${id}`, { signal }).catch(() => undefined);
    if (!found) return;
    draft.shop = { id: found.id, name: found.name };
    keep();
    showShopPicker();
  }

  /** Whether an earlier attempt in doubt published the note. */
  async function resolveDoubt() {
    const running = underWay.get(writer);
    if (running) {
      showPublishing();
      // No other screen is sending it either.
      await whileBusy(submit, () => running.then(onPublished, (error) => {
        // The other screen has updated the draft.
        draft.after = loadDraft(writer).after;
        showFailure(error);
      }));
      return;
    }
    if (draft.after === undefined) return;
    inside.disabled = true;
    tries = TRIES;
    try {
      const there = await findPublished(draft, draft.pictures.map(({ path }) => path ?? ""));
      if (there !== undefined) {
        onPublished(there);
        return;
      }
      draft.after = undefined;
      keep();
      inside.disabled = false;
    } catch (error) {
      showFailure(error);
    }
  }

  /** Publication interrupted by a lost connection. */
  function retryLater() {
    if (!isReachable() || tries === 0) return;
    setTimeout(() => {
      if (tries === 0 || signal.aborted) return;
      tries -= 1;
      submit.click();
    }, TRY_AFTER_MS);
  }

  /** @param {SubmitEvent} event */
  function submitForm(event) {
    event.preventDefault();
    // Pressed by the user.
    if (inside.disabled === false) tries = TRIES;
    const isLong = contentOf(draft.text).length > MAX_TEXT_LENGTH;
    text.wrong(isLong ? t("正文太长了", "The text is too long") : draft.text.trim() ? "" : t("正文不能是空的", "Enter a text"));
    title.wrong(draft.title.trim() ? "" : t("标题不能是空的", "Enter a title"));
    const unclear = choice?.unclear() ?? "";
    if (unclear) choice?.wrong(unclear);
    if (!draft.title.trim() || !draft.text.trim() || isLong || unclear) return;
    whileBusy(submit, async () => {
      showPublishing();
      const run = images.uploaded().then((paths) => publish(draft, paths, keep));
      underWay.set(writer, run);
      try {
        onPublished(await run);
      } catch (error) {
        if (!signal.aborted) showFailure(error);
      } finally {
        underWay.delete(writer);
      }
    });
  }

  function showPublishing() {
    inside.disabled = true;
    fill(notice, h("p", { class: "notice" }, icon("clock"), t("正在发布…", "Publishing…")));
  }

  /** @param {unknown} error reason why publication failed or is in doubt */
  function showFailure(error) {
    const isWaiting = error instanceof Unreachable;
    const mayBeThere = draft.after !== undefined;
    inside.disabled = isWaiting || mayBeThere;
    fill(notice);
    if (redirectIfUnauthorized(error)) return;
    if (isWaiting) {
      const goOnWriting = button(t("继续编辑", "Continue writing"), () => {
        tries = 0;
        inside.disabled = false;
        fill(notice);
      });
      fill(notice, h("p", { class: "notice bad" }, icon("offline"), h("span", { class: "grow" }, t(
        "连接断开，草稿已保留。恢复连接后会先检查是否已经发布，不会重复发布。",
        "Connection lost; the draft is saved. After reconnecting, publication is checked first, so nothing is published twice.")),
      !mayBeThere && goOnWriting));
      retryLater();
    } else if (mayBeThere) {
      fill(notice, h("p", { class: "notice bad" }, icon("warn"), h("span", { class: "grow" }, errorMessage(error), t("。", ". "), t(
        "发布结果未知。再按一次“发布”即可确认，不会重复发布。",
        "The result is unknown. Press “Publish” again to check; nothing is published twice."))));
    } else if (error instanceof UnreadableImage) showToast(t("有图片上传失败，请移除或更换", "A picture could not be uploaded. Remove it or choose another."), { bad: true });
    else if (error instanceof Refusal && !error.isTrouble) fill(notice, h("p", { class: "notice bad" }, icon("warn"), error.message));
    else showError(error);
  }

  /** @param {number} id */
  function onPublished(id) {
    deleteDraft(writer, draft);
    invalidate("notes");
    // A newer screen with further edits reports the outcome itself.
    if (signal.aborted && address() === "/write") return;
    showToast(t("发布成功", "Published"));
    if (!signal.aborted) go(`/note/${id}`, { replace: true });
  }

  async function clearDraft() {
    if (isEmpty(draft)) return;
    const isConfirmed = await confirmAction(t("清空草稿？", "Clear the draft?"), t("文字和图片都会删除。", "Text and pictures are deleted."), t("清空", "Clear"), { danger: true });
    if (!isConfirmed) return;
    deleteDraft(writer, draft);
    go("/notes", { replace: true });
  }

  function showShopPicker() {
    choice = shopPicker(t("关联店铺（选填）", "Shop (optional)"), signal, {
      chosen: draft.shop ?? undefined,
      choose: (chosen) => {
        draft.shop = chosen ? { id: chosen.id, name: chosen.name } : null;
        keep();
      },
    });
    fill(shop, choice.root);
  }
}
