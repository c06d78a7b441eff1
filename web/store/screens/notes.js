// Popular notes, and the feed of followed users.

import { get, hasToken, onToken } from "../../core/api.js";
import { repeatWhileVisible, fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { replaceAddress } from "../../core/router.js";
import { button, linkButton } from "../../parts/button.js";
import { choice } from "../../parts/choice.js";
import { emptyState } from "../../parts/empty-state.js";
import { byPage, infiniteList } from "../../parts/infinite-list.js";
import { noteCard } from "../cards/note.js";
import { goToLogin } from "../login-guard.js";

/** @typedef {import("../cards/note.js").Note} Note */
/** @typedef {{lastId: number, offset: number}} FeedPlace */
/** @typedef {"hot" | "following"} Tab */

const PAGE_SIZE = 10;
/** Start of the feed, later than any real timestamp. */
const MAX_TIMESTAMP = 8_640_000_000_000_000;
/** Interval of checks for new notes. */
const CHECK_EVERY_MS = 20_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title, restoreScroll }) {
  title(t("笔记", "Notes"));
  /** @type {Tab} */
  let tab = params.tab === "following" && !isKiosk ? "following" : "hot";
  const list = h("div", null);
  let shown = new AbortController();
  root.append(
    h("header", { class: "row notes-head" },
      h("h1", { class: "grow" }, t("笔记", "Notes")),
      !isKiosk && linkButton(t("写笔记", "Write"), "#/write", { look: ["main"], icon: "edit" })),
    isKiosk ? "" : h("div", { class: "notes-tabs" }, choice(t("看哪些", "Which notes"), [
      { value: "hot", text: t("热门", "Popular") }, { value: "following", text: t("关注", "Following") },
    ], tab, show)),
    list);
  show(tab);
  // The session may have ended.
  onToken(() => show(tab), signal);

  /** @param {Tab} selected */
  function show(selected) {
    tab = selected;
    shown.abort();
    shown = new AbortController();
    const listSignal = AbortSignal.any([signal, shown.signal]);
    replaceAddress(tab === "hot" ? "/notes" : "/notes?tab=following");
    const heading = h("h2", { class: "unseen" }, tab === "hot" ? t("热门", "Popular") : t("关注", "Following"));
    if (tab === "hot") fill(list, heading, popularNotes(listSignal));
    else if (hasToken()) fill(list, heading, feedNotes(listSignal));
    else fill(list, heading, emptyState("people", t("登录后查看你关注的人写的笔记。", "Log in to see notes from people you follow."), button(t("登录", "Log in"), () => goToLogin(), { look: ["main"] })));
    restoreScroll();
  }
}

/** @param {AbortSignal} signal */
function popularNotes(signal) {
  return infiniteList({
    ...LIST, name: "notes hot", signal,
    load: byPage(PAGE_SIZE, (current) => get("/blog/hot", { query: { current }, signal })),
    none: () => emptyState("note", t("还没有人写笔记。", "No notes yet.")),
  }).root;
}

/** @param {AbortSignal} signal */
function feedNotes(signal) {
  /** @param {FeedPlace} [from] */
  const load = async (from = { lastId: MAX_TIMESTAMP, offset: 0 }) => {
    /** @type {{list: Note[], minTime: number, offset: number} | undefined} */
    const page = await get("/blog/of/follow", { query: from, signal });
    if (!page) return { items: [], next: undefined };
    return { items: page.list, next: { lastId: page.minTime, offset: page.offset } };
  };
  const feed = infiniteList({
    ...LIST, name: "notes following", signal, load,
    none: () => emptyState("people", t("你关注的人还没有写笔记。", "People you follow have not written any notes yet."),
      linkButton(t("看看热门笔记", "Browse popular notes"), "#/notes")),
  });
  const pill = h("div", { class: "notes-new", role: "status" });
  repeatWhileVisible(CHECK_EVERY_MS, signal, checkForNew);
  return h("div", null, pill, feed.root);

  async function checkForNew() {
    const page = await load().catch(() => undefined);
    if (!page) return;
    const newCount = page.items.filter(({ id }) => !feed.keys().includes(id)).length;
    if (signal.aborted) return;
    if (newCount === 0) return fill(pill);
    const message = newCount === PAGE_SIZE ? t("有很多新笔记", "Many new notes") : t(`${newCount} 篇新笔记`, `${newCount} new ${newCount === 1 ? "note" : "notes"}`);
    fill(pill, button(message, async () => {
      await feed.reload();
      fill(pill);
      scrollTo({ top: 0, behavior: "smooth" });
    }, { look: ["main"] }));
  }
}

const LIST = {
  look: "notes", height: "15rem", draw: noteCard,
  /** @param {Note} note */
  key: (note) => note.id,
};
