// Notes: those that are liked most, and those of whom one follows.

import { get, hasToken, onToken } from "../../core/api.js";
import { repeatWhileVisible, fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/kept.js";
import { t } from "../../core/language.js";
import { replaceAddress } from "../../core/router.js";
import { button, linkButton } from "../../parts/button.js";
import { choice } from "../../parts/choice.js";
import { emptyState } from "../../parts/empty-state.js";
import { byPage, infiniteList } from "../../parts/infinite-list.js";
import { noteCard } from "../cards/note.js";
import { toLogIn } from "../entry.js";

/** @typedef {import("../cards/note.js").Note} Note */
/** @typedef {{lastId: number, offset: number}} FeedPlace */
/** @typedef {"hot" | "following"} Tab */

const PAGE = 10;
/** The feed goes back in time from here: later than any clock says. */
const NEWEST = 8_640_000_000_000_000;
/** How often somebody may have written something new. */
const LOOK_AGAIN_MS = 20_000;

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
    isKiosk ? "" : h("div", { class: "notes-tabs" }, choice(t("看哪些", "Which"), [
      { value: "hot", text: t("热门", "Popular") }, { value: "following", text: t("关注", "Following") },
    ], tab, show)),
    list);
  show(tab);
  // The mall may have forgotten who one is.
  onToken(() => show(tab), signal);

  /** @param {Tab} which */
  function show(which) {
    tab = which;
    shown.abort();
    shown = new AbortController();
    const mine = AbortSignal.any([signal, shown.signal]);
    replaceAddress(which === "hot" ? "/notes" : "/notes?tab=following");
    const heading = h("h2", { class: "unseen" }, which === "hot" ? t("热门", "Popular") : t("关注", "Following"));
    if (which === "hot") fill(list, heading, hot(mine));
    else if (hasToken()) fill(list, heading, following(mine));
    else fill(list, heading, emptyState("people", t("登录后，这里是你关注的人写的笔记。", "Log in, and what those write whom you follow is here."), button(t("登录", "Log in"), () => toLogIn(), { look: ["main"] })));
    restoreScroll();
  }
}

/** @param {AbortSignal} signal */
function hot(signal) {
  return infiniteList({
    ...LIST, name: "notes hot", signal,
    load: byPage(PAGE, (current) => get("/blog/hot", { query: { current }, signal })),
    none: () => emptyState("note", t("还没有人写笔记。", "Nobody has written a note yet.")),
  }).root;
}

/** @param {AbortSignal} signal */
function following(signal) {
  /** @param {FeedPlace} [from] */
  const load = async (from = { lastId: NEWEST, offset: 0 }) => {
    /** @type {{list: Note[], minTime: number, offset: number} | undefined} */
    const page = await get("/blog/of/follow", { query: from, signal });
    if (!page) return { items: [], next: undefined };
    return { items: page.list, next: { lastId: page.minTime, offset: page.offset } };
  };
  const feed = infiniteList({
    ...LIST, name: "notes following", signal, load,
    none: () => emptyState("people", t("你关注的人还没有写笔记。", "Nobody whom you follow has written a note yet."),
      linkButton(t("看看热门笔记", "See popular notes"), "#/notes")),
  });
  const pill = h("div", { class: "notes-new", role: "status" });
  repeatWhileVisible(LOOK_AGAIN_MS, signal, look);
  return h("div", null, pill, feed.root);

  async function look() {
    const page = await load().catch(() => undefined);
    if (!page) return;
    const fresh = page.items.filter(({ id }) => !feed.keys().includes(id)).length;
    if (signal.aborted) return;
    if (fresh === 0) return fill(pill);
    const words = fresh === PAGE ? t("有很多新笔记", "Many new notes") : t(`${fresh} 篇新笔记`, `${fresh} new ${fresh === 1 ? "note" : "notes"}`);
    fill(pill, button(words, async () => {
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
