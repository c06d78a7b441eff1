// The page "Who oversells": chapters, runs and timelines.

import "../core/color-scheme.js";
import { fill, h, signalSequence } from "../core/dom.js";
import { onLanguageChange, t } from "../core/language.js";
import { renderBar } from "../report/top-bar.js";
import { chapterView } from "./chapter.js";
import { CHAPTERS } from "./chapters/index.js";
import { renderContents } from "./contents.js";
import { followJob } from "./job-bar.js";
import { currentTrouble, isLoaded, load, loadWithNewKey, onLadderChange } from "./ladder.js";
import { overview } from "./overview/view.js";
import { currentRoute } from "./routes.js";
import { timelineView } from "./timeline/view.js";

const bar = /** @type {HTMLElement} */ (document.getElementById("bar"));
const nav = /** @type {HTMLElement} */ (document.getElementById("chapters"));
const screen = /** @type {HTMLElement} */ (document.getElementById("screen"));
const nextSignal = signalSequence(new AbortController().signal);
const showJob = followJob(/** @type {HTMLElement} */ (document.getElementById("job")));

let wasLoaded = false;
/** The route before the present one. @type {import("./routes.js").Route | null} */
let before = null;
let route = currentRoute();

render();
void load();
onLadderChange(() => {
  // What was loaded can be read without the server.
  if (wasLoaded) return;
  wasLoaded = isLoaded();
  render();
  focusRoute(false);
});
onLanguageChange(() => {
  render();
  showJob();
});
addEventListener("hashchange", () => {
  if (location.hash.includes("key=")) void loadWithNewKey();
  [before, route] = [route, currentRoute()];
  render();
  focusRoute(true);
});

function render() {
  renderBar(bar, "mallbox learn");
  renderContents(nav, route.chapter);
  fill(screen, view(route, nextSignal()));
  document.title = `${screen.querySelector("h1")?.textContent ?? t("谁在超卖", "Who oversells")} · mallbox`;
}

/**
 * @param {import("./routes.js").Route} route
 * @param {AbortSignal} signal
 * @returns {(import("../core/dom.js").Leaf | import("../core/dom.js").Leaf[])[]}
 */
function view(route, signal) {
  if (!isLoaded() && currentTrouble() === "refused") return notice(t("请打开mallbox learn打印的地址", "Open the address that mallbox learn printed"), t(
    "这个页面需要地址里的密钥（#key=…）。它在启动时打印在终端里，每次启动都不同。",
    "This page needs the key in the address (#key=…), which the terminal shows. Each start has another key."));
  if (!isLoaded() && currentTrouble() === "gone") return notice(t("mallbox learn没有应答", "mallbox learn does not respond"), t(
    "它可能已经停止。在终端里重新运行mallbox learn，再打开它打印的地址。",
    "Perhaps it has ended. Run mallbox learn again, and open the address that it prints."));
  if (!isLoaded()) return [h("h1", null, t("谁在超卖", "Who oversells")), h("p", { class: "quiet" }, t("正在加载", "Loading"))];
  const chapter = CHAPTERS.find(({ id }) => id === route.chapter);
  if (chapter && route.trigger !== "") return timelineView(route, signal);
  return chapter ? chapterView(chapter, signal) : overview(signal);
}

/**
 * @param {string} title
 * @param {string} text
 */
function notice(title, text) {
  return [h("h1", { id: "chapter-title", tabindex: -1 }, title), h("p", { class: "card pad notice warn measure", role: "alert" }, text)];
}

/**
 * Moves focus and view to what the address names.
 * @param {boolean} isMoved whether the address has changed since the page was loaded
 */
function focusRoute(isMoved) {
  const { rung, trigger } = route;
  // From a timeline the way leads back to the verdicts, not to the beginning of the rung.
  const isBack = before?.rung === rung && before.trigger !== "";
  const target = trigger !== "" ? screen.querySelector(".tl-stage")
    : rung !== "" ? document.getElementById(`${isBack ? "verdicts" : "rung"}-${rung}`) : isMoved ? document.getElementById("chapter-title") : null;
  if (!(target instanceof HTMLElement)) return;
  target.focus({ preventScroll: true });
  if (rung !== "" && trigger === "") target.scrollIntoView();
  else scrollTo(0, 0);
}
