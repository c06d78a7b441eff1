// The waiting room of a busy sale: entering, the visitor's place, and the turn to buy.

import { Refusal, call, get, hasToken, onToken } from "../../core/api.js";
import { fill, h, onVisible, repeatWhileVisible, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { loadLocal, saveLocal } from "../../core/local-storage.js";
import { momentAfter, msUntil } from "../../core/server-time.js";
import { button, linkButton } from "../../parts/button.js";
import { countdown } from "../../parts/countdown.js";
import { icon } from "../../parts/icons.js";
import { errorMessage } from "../../parts/toast.js";
import { redirectIfUnauthorized } from "../login-guard.js";
import { forgetAdmission, hasAdmission, keepAdmission } from "./passes.js";
import { effectiveState } from "./poll-sale.js";

/**
 * The response of `/sale/{id}/waiting-room`.
 * @typedef {object} Place
 * @property {"OUTSIDE" | "WAITING" | "ADMITTED"} state
 * @property {number} [ahead]
 * @property {number} waiting
 * @property {number} [waitMs]
 * @property {number} [pollInMs]
 * @property {string} [ticket]
 * @property {string} [admission]
 * @property {number} [admissionEndsInMs]
 * @property {import("./poll-sale.js").State} sale
 * @property {number} [stock]
 */

const RETRY_AFTER_ERROR_MS = 5_000;
const MINUTE_MS = 60_000;

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @param {object} screen
 * @param {() => void} screen.look refreshes the sale after a change
 * @param {(news: {state: import("./poll-sale.js").State, stock: number}) => void} screen.hear tells the state of
 * the sale, which is then not asked for
 * @param {(text: string) => void} screen.title
 * @returns {{root: HTMLElement, show: (live: import("./poll-sale.js").LiveSale) => void,
 * opens: (enterBeforeMs: number) => void, entitle: (title: string) => void}}
 * `opens`: sets the time before the begin from which visitors enter; `entitle`: sets the title of the screen
 */
export function waitingRoom(id, signal, { look, hear, title }) {
  /** @type {import("./poll-sale.js").LiveSale | undefined} */
  let live;
  /** @type {Place | undefined} */
  let place;
  /** Estimated moment of the admission. @type {import("../../core/server-time.js").Moment | undefined} */
  let expected;
  let admissionEnds = 0;
  /** Largest number of people before the visitor: where the progress bar begins. */
  let firstAhead = 0;
  /** Whether an admission on this screen has expired unused. */
  let hasMissed = false;
  /** Why the last attempt to enter failed, and the order that the visitor holds already. @type {{text: string, order?: string} | undefined} */
  let problem;
  let isAsked = false;
  let drawn = "";
  let enterBeforeMs = 0;
  let saleTitle = "";
  let nextPollAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const path = `/sale/${id}/waiting-room`;
  /** Survives a reload; a mall that was restarted has no other memory of the place. */
  const stored = `room-ticket-${id}`;
  const state = h("div", { class: "stack tight", role: "status" });
  // Changes too often to be announced.
  const moving = h("div", { class: "stack tight" });
  const actions = h("div", { class: "stack tight" });
  const root = h("section", { class: "waiting-room stack", hidden: true, "aria-label": t("排队", "Waiting room") }, state, moving, actions);
  const untilEnd = signalSequence(signal);
  signal.addEventListener("abort", () => clearTimeout(timer));
  // A phone that slept has missed its turn to ask.
  onVisible(signal, () => place?.state === "WAITING" && msUntil(nextPollAt) <= 0 && ask());
  repeatWhileVisible(1_000, signal, draw);
  onToken(() => {
    clearTimeout(timer);
    place = problem = undefined;
    isAsked = hasMissed = false;
    draw();
  }, signal);

  /** Asks for the place: the mall admits those who ask when their turn comes. */
  async function ask() {
    clearTimeout(timer);
    try {
      take(await call("POST", path, { body: { ticket: loadLocal(stored) ?? undefined }, signal }));
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal && !error.isTrouble) refused(error);
      else schedule(RETRY_AFTER_ERROR_MS);
    }
  }

  /** @param {number} ms */
  function schedule(ms) {
    clearTimeout(timer);
    nextPollAt = performance.now() + ms;
    // In the background, too: the title tells when it is the visitor's turn.
    if (!signal.aborted) timer = setTimeout(ask, Math.min(ms, 2 ** 31 - 1));
  }

  /** @param {{data: Place, sentAt: number, receivedAt: number}} answer */
  function take(answer) {
    if (signal.aborted) return;
    const fresh = answer.data;
    problem = undefined;
    saveLocal(stored, fresh.ticket ?? null);
    if (fresh.state === "ADMITTED" && fresh.admission) {
      const isNew = place?.state !== "ADMITTED";
      admissionEnds = momentAfter(fresh.admissionEndsInMs ?? 0, answer);
      keepAdmission(id, fresh.admission, admissionEnds);
      hasMissed = false;
      if (isNew) look();
    }
    if (fresh.state === "WAITING") {
      hasMissed = false;
      firstAhead = place?.state === "WAITING" ? Math.max(firstAhead, fresh.ahead ?? 0) : fresh.ahead ?? 0;
      expected = fresh.waitMs === undefined ? undefined : momentAfter(fresh.waitMs, answer);
      schedule(fresh.pollInMs ?? RETRY_AFTER_ERROR_MS);
    }
    const hasLeft = place?.state === "WAITING" && fresh.state === "OUTSIDE";
    place = fresh;
    showTitle();
    if (fresh.state === "WAITING") hear({ state: fresh.sale, stock: fresh.stock ?? -1 });
    else if (hasLeft) look();
    draw();
  }

  /** @param {Refusal} refusal */
  function refused(refusal) {
    if (redirectIfUnauthorized(refusal)) return;
    place = undefined;
    saveLocal(stored, null);
    // A room that was turned off needs no message: the button to buy is back.
    problem = refusal.code === "NO_WAITING_ROOM" ? undefined
      : { text: errorMessage(refusal), order: refusal.code === "ALREADY_BOUGHT" ? refusal.answer.dataText : undefined };
    showTitle();
    draw();
    look();
  }

  function showTitle() {
    if (saleTitle) title(place?.state === "ADMITTED" ? t(`轮到你了 · ${saleTitle}`, `Your turn · ${saleTitle}`) : saleTitle);
  }

  /** @param {import("./poll-sale.js").LiveSale} fresh */
  function show(fresh) {
    live = fresh;
    if (fresh.waitingRoom && hasToken() && !isAsked && effectiveState(fresh) !== "ENDED") {
      isAsked = true;
      // A ticket enters again, where the mall was restarted.
      if (loadLocal(stored)) ask();
      else lookIn();
    }
    draw();
  }

  /** Asks for the place without entering. */
  async function lookIn() {
    const sentAt = performance.now();
    const found = await get(path, { signal }).catch(() => undefined);
    // Another tab may have entered.
    if (found && found.state !== "OUTSIDE" && place === undefined) take({ data: found, sentAt, receivedAt: performance.now() });
  }

  function draw() {
    if (!live) return;
    if (place?.state === "ADMITTED" && !hasAdmission(id)) {
      // Expired, or refused by the mall.
      hasMissed = msUntil(admissionEnds) <= 0;
      place = undefined;
      showTitle();
    }
    const sale = effectiveState(live);
    root.hidden = !live.waitingRoom || !hasToken() || sale === "ENDED";
    const own = place?.state ?? "OUTSIDE";
    const opensIn = msUntil(live.window.begins) - enterBeforeMs;
    const canEnter = sale !== "NOT_OPEN" || opensIn <= 0;
    if (own === "WAITING") showMoving(sale);
    else fill(moving);
    const looks = `${own} ${sale} ${canEnter} ${hasMissed} ${problem?.text} ${Math.round(own === "ADMITTED" ? admissionEnds : 0)}`;
    if (looks === drawn) return;
    drawn = looks;
    const had = actions.contains(document.activeElement);
    const [says, does] = contents(own, sale, canEnter);
    fill(state, problem && h("div", { class: "notice bad" }, icon("warn"), h("p", { class: "grow" }, problem.text)), says);
    fill(actions, problem?.order ? linkButton(t("查看我的订单", "View my order"), `#/order/${problem.order}`, { look: ["main", "wide"] }) : does);
    if (had) /** @type {HTMLElement | null} */ (actions.querySelector("a, button"))?.focus({ preventScroll: true });
  }

  /**
   * Returns texts and controls of a state.
   * @param {Place["state"]} own
   * @param {import("./poll-sale.js").State} sale
   * @param {boolean} canEnter
   * @returns {[import("../../core/dom.js").Leaf[], import("../../core/dom.js").Leaf[]]}
   */
  function contents(own, sale, canEnter) {
    if (own === "ADMITTED") {
      return [[h("div", { class: "notice good" }, icon("check"), h("div", { class: "grow" }, h("strong", null, t("轮到你了！", "It is your turn!")),
        h("p", { class: "small" }, t("请在倒计时结束前抢购，之后须重新排队。剩余时间 ", "Buy before the time is up, or you have to queue again. Time left: "),
          countdown(admissionEnds, untilEnd(), draw))))], []];
    }
    if (own === "WAITING") {
      return [[h("strong", null, t("你正在排队", "You are in the queue")), h("p", { class: "small quiet" }, waitingText(sale))],
        [button(t("退出排队", "Leave the queue"), leave, { look: ["wide"] })]];
    }
    const enterButton = button(t("排队", "Join the queue"), enter, { look: ["main", "wide"] });
    enterButton.disabled = !canEnter;
    const why = hasMissed ? t("你的购买时间已过，可以重新排队。", "Your time to buy is over. You can queue again.")
      : sale === "SOLD_OUT" ? t("暂时抢光了。可以先排队，有名额退回时按顺序放行。", "Sold out for now. You can queue for units that come back.")
      : canEnter ? sale === "NOT_OPEN" ? t("这场秒杀需要排队。开抢前进入的人随机排序，早到晚到都一样。", "This sale has a queue. Everybody who joins before the opening gets a random place, so there is no need to hurry.")
        : t("这场秒杀需要排队，先到先得。", "This sale has a queue: first come, first served.")
      : t(`这场秒杀需要排队，开抢前 ${Math.round(enterBeforeMs / MINUTE_MS)} 分钟开始。`, `This sale has a queue. It opens ${Math.round(enterBeforeMs / MINUTE_MS)} min before the sale.`);
    return [[h("p", null, why)], [enterButton]];
  }

  /** @param {import("./poll-sale.js").State} sale */
  function waitingText(sale) {
    if (sale === "NOT_OPEN") return t("开抢时随机排序。请保持页面打开，轮到你时会提示。", "Places are drawn at the opening. Keep this page open: it tells you when it is your turn.");
    if (sale === "PAUSED") return t("秒杀暂停中，恢复后继续放行。", "The sale is paused; the queue goes on afterwards.");
    if (sale === "SOLD_OUT") return t("暂时抢光了。有名额退回时继续放行。", "Sold out for now. The queue goes on when a unit comes back.");
    return t("请保持页面打开，轮到你时会提示。刷新或断线不会丢掉位置。", "Keep this page open: it tells you when it is your turn. A reload or a lost connection does not cost your place.");
  }

  /**
   * Shows place and estimate.
   * @param {import("./poll-sale.js").State} sale
   */
  function showMoving(sale) {
    if (!place) return;
    const { ahead, waiting, stock } = place;
    const time = expected !== undefined && sale === "OPEN" ? t(`，${waitText(msUntil(expected))}`, `, ${waitText(msUntil(expected))}`) : "";
    const words = ahead === undefined ? t(`已有 ${waiting.toLocaleString()} 人在排队`, `${waiting.toLocaleString()} ${waiting === 1 ? "person is" : "people are"} in the queue`)
      : ahead === 0 ? t(`你排在第一位${time}`, `You are first${time}`)
      : t(`前面还有 ${ahead.toLocaleString()} 人${time}`, `${ahead.toLocaleString()} ${ahead === 1 ? "person" : "people"} before you${time}`);
    const isUnlikely = ahead !== undefined && stock !== undefined && ahead >= stock;
    fill(moving, h("p", { class: "number" }, words),
      ahead !== undefined && firstAhead > 0 && h("progress", { max: firstAhead, value: firstAhead - ahead, "aria-label": t("排队进度", "Progress in the queue") }),
      isUnlikely && sale === "OPEN" && h("p", { class: "small quiet" }, t(`只剩 ${stock} 份，前面的人可能先买完。`, `Only ${stock} left: they may be gone before your turn.`)));
  }

  async function enter() {
    hasMissed = false;
    forgetAdmission(id);
    saveLocal(stored, null);
    try {
      take(await call("POST", path, { body: {}, signal }));
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal) refused(error);
      else {
        problem = { text: errorMessage(error) };
        draw();
      }
    }
  }

  async function leave() {
    clearTimeout(timer);
    take(await call("DELETE", path, { signal }));
  }

  return {
    root, show,
    opens: (ms) => {
      enterBeforeMs = ms;
      draw();
    },
    entitle: (text) => {
      saleTitle = text;
      showTitle();
    },
  };
}

/**
 * Describes an estimated time to wait.
 * @param {number} ms
 */
function waitText(ms) {
  const minutes = Math.ceil(ms / MINUTE_MS);
  if (ms < 10_000) return t("马上轮到你", "your turn comes in a moment");
  if (minutes <= 1) return t("预计不到 1 分钟", "less than a minute to go");
  if (minutes <= 90) return t(`预计约 ${minutes} 分钟`, `about ${minutes} min`);
  return t(`预计约 ${Math.round(minutes / 60)} 小时`, `about ${Math.round(minutes / 60)} h`);
}
