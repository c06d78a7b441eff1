// A user's page: profile, notes, followers, followed users and common follows.

import { get, hasToken } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { replaceAddress } from "../../core/router.js";
import { cachedMe } from "../../core/session.js";
import { screenHeader } from "../../parts/screen-header.js";
import { linkButton } from "../../parts/button.js";
import { choice } from "../../parts/choice.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { byPage, infiniteList } from "../../parts/infinite-list.js";
import { skeletons } from "../../parts/skeleton.js";
import { noteCard } from "../cards/note.js";
import { profileCard } from "../people/profile-card.js";
import { followButton } from "../people/follow-button.js";
import { personRow } from "../people/person-row.js";

/** @typedef {import("../people/profile-card.js").Person} Person */
/** @typedef {import("../people/profile-card.js").Profile} Card */
/** @typedef {"notes" | "followees" | "fans" | "common"} Tab */

const PAGE = 10;

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, params, signal, title, restoreScroll }) {
  const id = Number(params.id);
  title(t("个人主页", "Profile"));
  const isMe = cachedMe()?.id === id;
  /** @type {Tab[]} */
  const tabs = ["notes", "followees", "fans", ...(hasToken() && !isMe ? [/** @type {const} */ ("common")] : [])];
  /** @type {Tab} */
  let tab = tabs.find((one) => one === params.tab) ?? "notes";
  const card = h("div", null, skeletons(1, "var(--person-card)"));
  const switches = h("div", { class: "person-tabs" });
  const list = h("div", null);
  let opened = new AbortController();
  /** @type {HTMLElement | null} */
  let follow = null;
  root.append(screenHeader(t("个人主页", "Profile"), { home: "/notes" }), h("div", { class: "person" }, card, h("div", null, switches, list)));
  show(tab);
  await refresh();

  async function refresh() {
    try {
      await staleWhileRevalidate(`person ${id}`, loadPerson, render);
    } catch (error) {
      if (!signal.aborted) fill(card, errorState(error, refresh));
    }
  }

  /** @returns {Promise<[Person | undefined, Card | undefined]>} */
  function loadPerson() {
    return Promise.all([get(`/user/${id}`, { signal }), get(`/user/info/${id}`, { signal })]);
  }

  /** @param {[Person | undefined, Card | undefined]} found */
  function render([person, profile]) {
    if (!person) {
      fill(card, emptyState("me", t("用户不存在。", "User not found."), linkButton(t("看看热门笔记", "Browse popular notes"), "#/notes")));
      fill(switches);
      fill(list);
      return;
    }
    title(person.nickName);
    follow ??= followButton({ id, name: person.nickName }, signal, () => setTimeout(refresh, 400));
    const edit = isMe && !isKiosk ? linkButton(t("编辑", "Edit"), "#/me/edit", { icon: "edit" }) : null;
    fill(card, profileCard(person, profile, { action: isMe ? edit : follow, tab: show }));
    restoreScroll();
  }

  /** @param {Tab} selected */
  function show(selected) {
    tab = selected;
    opened.abort();
    opened = new AbortController();
    replaceAddress(tab === "notes" ? `/person/${id}` : `/person/${id}?tab=${tab}`);
    const had = switches.contains(document.activeElement);
    fill(switches, choice(t("看什么", "Sections"), tabs.map((value) => ({ value, text: tabName(value) })), tab, show));
    const chosen = had && switches.querySelector('[aria-pressed="true"]');
    if (chosen instanceof HTMLElement) chosen.focus({ preventScroll: true });
    fill(list, h("h2", { class: "unseen" }, tabName(tab)), tabList(tab, id, isMe, AbortSignal.any([signal, opened.signal])));
    restoreScroll();
  }
}

/** @param {Tab} tab */
function tabName(tab) {
  switch (tab) {
    case "notes": return t("笔记", "Notes");
    case "followees": return t("关注", "Following");
    case "fans": return t("粉丝", "Followers");
    case "common": return t("共同关注", "In common");
  }
}

/**
 * @param {Tab} tab
 * @param {number} id
 * @param {boolean} isMe
 * @param {AbortSignal} signal
 */
function tabList(tab, id, isMe, signal) {
  if (tab === "notes") {
    return infiniteList({
      name: `notes of ${id}`, signal, look: "notes", height: "15rem", draw: noteCard,
      load: byPage(PAGE, (current) => get("/blog/of/user", { query: { id, current }, signal })),
      key: (/** @type {import("../cards/note.js").Note} */ note) => note.id,
      none: () => emptyState("note", t("还没有写过笔记。", "No notes yet."),
        isMe && !isKiosk && linkButton(t("写第一篇", "Write your first note"), "#/write", { look: ["main"], icon: "edit" })),
    }).root;
  }
  const isWhole = tab === "common";
  const load = byPage(PAGE, (current) => get(`/follow/${tab}/${id}`, { query: isWhole ? {} : { current }, signal }));
  return infiniteList({
    name: `people ${id} ${tab}`, signal, look: "people", height: "4rem", draw: personRow,
    // Common follows come in a single page.
    load: async (next) => (isWhole ? { ...(await load(next)), next: undefined } : load(next)),
    key: (/** @type {Person} */ person) => person.id,
    none: () => emptyState("people", emptyText(tab)),
  }).root;
}

/** @param {Tab} tab */
function emptyText(tab) {
  switch (tab) {
    case "fans": return t("还没有粉丝。", "No followers yet.");
    case "common": return t("你们还没有共同关注的人。", "No common follows yet.");
    default: return t("还没有关注别人。", "Not following anyone yet.");
  }
}
