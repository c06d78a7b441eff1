// Writing a note. It stays in this browser until the mall has it, and is published once.

import { Refusal, Unreachable, get, isReachable, onReachable } from "../../core/api.js";
import { invalidate } from "../../core/copies.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/kept.js";
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
import { isIn, wantsLogIn } from "../entry.js";
import { draftOf, dropDraft, isEmpty, keepDraft } from "../writing/draft.js";
import { pictures } from "../writing/pictures.js";
import { contentOf, publish, published } from "../writing/publish.js";
import { UnreadableImage } from "../../core/resize.js";

const LONGEST_TITLE = 255;
const LONGEST_TEXT = 2_048;
/** Once the mall answers again, it is tried by itself so often, and after so long. */
const TRIES = 5;
const TRY_AFTER_MS = 1_000;

/**
 * What is being published, by its author: the screen may be left, and opened again, before it is.
 * @type {Map<number, Promise<number>>}
 */
const underWay = new Map();

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title: name }) {
  name(t("写笔记", "Write a note"));
  if (isKiosk) {
    root.append(emptyState("edit", t("请用自己的手机写笔记。", "Please write notes on your own phone."),
      linkButton(t("看看热门笔记", "See popular notes"), "#/notes")));
    return;
  }
  if (!isIn()) return;
  const author = await me();
  if (!author || signal.aborted) return;
  const writer = author.id;
  const draft = draftOf(writer);
  const keep = () => keepDraft(writer, draft);

  const title = field(t("标题", "Title"), "input", { maxlength: LONGEST_TITLE, required: true, value: draft.title, placeholder: t("一句话说说最想分享的", "The one thing you want to share") });
  const text = field(t("正文", "Text"), "textarea", { class: "write-text", maxlength: LONGEST_TEXT, placeholder: t("味道、环境、服务……写下你的体验", "Taste, place, service: how was it?") }, draft.text);
  const images = pictures(draft, keep, signal);
  const shop = h("div", null);
  /** @type {ReturnType<typeof shopPicker> | undefined} */
  let choice;
  const submit = h("button", { type: "submit", class: "button main wide" }, t("发布", "Publish"));
  const notice = h("div", { role: "status" });
  const inside = h("fieldset", { class: "stack write" }, h("legend", { class: "unseen" }, t("笔记", "Note")), images.root, title.root, text.root, shop);
  const clear = iconButton("trash", t("清空草稿", "Clear the draft"), startAnew);
  root.append(h("div", { class: "write-page" }, screenHeader(t("写笔记", "Write a note"), { home: "/notes", actions: [clear] }),
    h("form", { class: "stack", novalidate: true, onsubmit: send }, h("div", { class: "card pad" }, inside), notice, submit,
      h("p", { class: "quiet small" }, t("写到一半也不会丢：草稿保存在这台设备上。", "Nothing is lost half-way: the draft is kept on this device.")))));
  title.input.addEventListener("input", () => {
    draft.title = title.input.value;
    keep();
  });
  text.input.addEventListener("input", () => {
    draft.text = text.input.value;
    keep();
  });
  /** How often it will still be tried by itself; none while one writes. */
  let tries = 0;
  onReachable(goOn, signal);
  showShop();
  await Promise.all([preset(), settleLast()]);

  /** The shop that one came from. */
  async function preset() {
    const id = Number(params.shop);
    if (!id || draft.shop?.id === id) return;
    const found = await get(`/shop/${id}`, { signal }).catch(() => undefined);
    if (!found) return;
    draft.shop = { id: found.id, name: found.name };
    keep();
    showShop();
  }

  /** Whether a try of before has published it. */
  async function settleLast() {
    const running = underWay.get(writer);
    if (running) {
      lock();
      // Nor is it sent from here meanwhile.
      await whileBusy(submit, () => running.then(finished, (error) => {
        // What that screen has put away about it.
        draft.after = draftOf(writer).after;
        unsure(error);
      }));
      return;
    }
    if (draft.after === undefined) return;
    inside.disabled = true;
    tries = TRIES;
    try {
      const there = await published(draft, draft.pictures.map(({ path }) => path ?? ""));
      if (there !== undefined) {
        finished(there);
        return;
      }
      draft.after = undefined;
      keep();
      inside.disabled = false;
    } catch (error) {
      unsure(error);
    }
  }

  /** Where a lost connection broke it off. */
  function goOn() {
    if (!isReachable() || tries === 0) return;
    setTimeout(() => {
      if (tries === 0 || signal.aborted) return;
      tries -= 1;
      submit.click();
    }, TRY_AFTER_MS);
  }

  /** @param {SubmitEvent} event */
  function send(event) {
    event.preventDefault();
    // Pressed by hand.
    if (inside.disabled === false) tries = TRIES;
    const isLong = contentOf(draft.text).length > LONGEST_TEXT;
    text.wrong(isLong ? t("正文太长了", "The text is too long") : draft.text.trim() ? "" : t("正文不能是空的", "A text is needed"));
    title.wrong(draft.title.trim() ? "" : t("标题不能是空的", "A title is needed"));
    const unclear = choice?.unclear() ?? "";
    if (unclear) choice?.wrong(unclear);
    if (!draft.title.trim() || !draft.text.trim() || isLong || unclear) return;
    whileBusy(submit, async () => {
      lock();
      const run = images.uploaded().then((paths) => publish(draft, paths, keep));
      underWay.set(writer, run);
      try {
        finished(await run);
      } catch (error) {
        if (!signal.aborted) unsure(error);
      } finally {
        underWay.delete(writer);
      }
    });
  }

  function lock() {
    inside.disabled = true;
    fill(notice, h("p", { class: "notice" }, icon("clock"), t("正在发布…", "Publishing…")));
  }

  /** @param {unknown} error what kept it from being published, or from being known to be */
  function unsure(error) {
    const isWaiting = error instanceof Unreachable;
    const mayBeThere = draft.after !== undefined;
    inside.disabled = isWaiting || mayBeThere;
    fill(notice);
    if (wantsLogIn(error)) return;
    if (isWaiting) {
      const goOnWriting = button(t("先接着写", "Go on writing"), () => {
        tries = 0;
        inside.disabled = false;
        fill(notice);
      });
      fill(notice, h("p", { class: "notice bad" }, icon("offline"), h("span", { class: "grow" }, t(
        "连接断了，草稿还在。连上以后会先看看是否已经发布，再接着发，不会发两次。",
        "The connection is lost; the draft is kept. Once it is back, the mall is asked whether the note is there already, so that it is not published twice.")),
      !mayBeThere && goOnWriting));
      goOn();
    } else if (mayBeThere) {
      fill(notice, h("p", { class: "notice bad" }, icon("warn"), h("span", { class: "grow" }, errorMessage(error), t("。", ". "), t(
        "还不知道发布了没有。再按一次“发布”就知道，不会发两次。",
        "It is not known whether it is published. Press “Publish” again to find out; that never publishes it twice."))));
    } else if (error instanceof UnreadableImage) showToast(t("有图片没传上，请移除或换一张", "A picture could not be uploaded; remove it or take another"), { bad: true });
    else if (error instanceof Refusal && !error.isTrouble) fill(notice, h("p", { class: "notice bad" }, icon("warn"), error.message));
    else showError(error);
  }

  /** @param {number} id */
  function finished(id) {
    dropDraft(writer, draft);
    invalidate("notes");
    // Who wrote on in a screen that was opened since is told there.
    if (signal.aborted && address() === "/write") return;
    showToast(t("发布好了", "Published"));
    if (!signal.aborted) go(`/note/${id}`, { replace: true });
  }

  async function startAnew() {
    if (isEmpty(draft)) return;
    const isSure = await confirmAction(t("清空草稿？", "Clear the draft?"), t("写好的内容和图片都会移除。", "The text and the pictures go."), t("清空", "Clear"), { danger: true });
    if (!isSure) return;
    dropDraft(writer, draft);
    go("/notes", { replace: true });
  }

  function showShop() {
    choice = shopPicker(t("说的是哪家店（可不选）", "The shop it is about (optional)"), signal, {
      chosen: draft.shop ?? undefined,
      choose: (chosen) => {
        draft.shop = chosen ? { id: chosen.id, name: chosen.name } : null;
        keep();
      },
    });
    fill(shop, choice.root);
  }
}
