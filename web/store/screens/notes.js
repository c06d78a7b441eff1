// Notes: those that are liked most, and those of whom one follows.

import { get, hasToken, onToken } from "../../core/api.js";
import { every, fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/kept.js";
import { both } from "../../core/language.js";
import { readdress } from "../../core/router.js";
import { button, linkButton } from "../../parts/button.js";
import { choice } from "../../parts/choice.js";
import { empty } from "../../parts/empty.js";
import { byPage, endless } from "../../parts/endless.js";
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

/** @param {import("../../core/router.js").Showing} showing */
export function open({ root, at, signal, title, settled }) {
  title(both("笔记", "Notes"));
  /** @type {Tab} */
  let tab = at.tab === "following" && !isKiosk ? "following" : "hot";
  const list = h("div", null);
  let shown = new AbortController();
  root.append(
    h("header", { class: "row notes-head" },
      h("h1", { class: "grow" }, both("笔记", "Notes")),
      !isKiosk && linkButton(both("写笔记", "Write"), "#/write", { look: ["main"], icon: "edit" })),
    isKiosk ? "" : h("div", { class: "notes-tabs" }, choice(both("看哪些", "Which"), [
      { value: "hot", text: both("热门", "Popular") }, { value: "following", text: both("关注", "Following") },
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
    readdress(which === "hot" ? "/notes" : "/notes?tab=following");
    const heading = h("h2", { class: "unseen" }, which === "hot" ? both("热门", "Popular") : both("关注", "Following"));
    if (which === "hot") fill(list, heading, hot(mine));
    else if (hasToken()) fill(list, heading, following(mine));
    else fill(list, heading, empty("people", both("登录后，这里是你关注的人写的笔记。", "Log in, and what those write whom you follow is here."), button(both("登录", "Log in"), () => toLogIn(), { look: ["main"] })));
    settled();
  }
}

/** @param {AbortSignal} signal */
function hot(signal) {
  return endless({
    ...LIST, name: "notes hot", signal,
    load: byPage(PAGE, (current) => get("/blog/hot", { query: { current }, signal })),
    none: () => empty("note", both("还没有人写笔记。", "Nobody has written a note yet.")),
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
  const feed = endless({
    ...LIST, name: "notes following", signal, load,
    none: () => empty("people", both("你关注的人还没有写笔记。", "Nobody whom you follow has written a note yet."),
      linkButton(both("看看热门笔记", "See popular notes"), "#/notes")),
  });
  const pill = h("div", { class: "notes-new", role: "status" });
  every(LOOK_AGAIN_MS, signal, look);
  return h("div", null, pill, feed.root);

  async function look() {
    const page = await load().catch(() => undefined);
    if (!page) return;
    const fresh = page.items.filter(({ id }) => !feed.keys().includes(id)).length;
    if (signal.aborted) return;
    if (fresh === 0) return fill(pill);
    const words = fresh === PAGE ? both("有很多新笔记", "Many new notes") : both(`${fresh} 篇新笔记`, `${fresh} new ${fresh === 1 ? "note" : "notes"}`);
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
