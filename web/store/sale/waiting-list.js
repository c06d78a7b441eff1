// The waiting list of a sold-out sale: joining, the visitor's place, and the order of a promotion.

import { Refusal, call, get, hasToken, onToken } from "../../core/api.js";
import { invalidate } from "../../core/cache.js";
import { fill, h, onVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button, linkButton } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { errorMessage } from "../../parts/toast.js";
import { solveChallenge } from "../challenge/sheet.js";
import { goToLogin, redirectIfUnauthorized } from "../login-guard.js";
import { STATUS } from "../orders.js";
import { claimHeaders, forgetPass, hasAdmission, hasPass } from "./passes.js";
import { effectiveState } from "./poll-sale.js";

/**
 * The response of `GET /sale/{id}/waiting-list`.
 * @typedef {object} Place
 * @property {"NONE" | "WAITING" | "OFFERED" | "PROMOTED" | "LEFT" | "EXPIRED" | "DROPPED"} state
 * @property {number} ahead
 * @property {number} waiting
 * @property {string} [orderId]
 * @property {number} pollInMs
 */

const RETRY_AFTER_ERROR_MS = 5_000;

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @param {() => void} refreshSale refreshes the sale after a change
 * @returns {{root: HTMLElement, show: (live: import("./poll-sale.js").LiveSale) => void}}
 */
export function waitingList(id, signal, refreshSale) {
  /** @type {import("./poll-sale.js").LiveSale | undefined} */
  let live;
  /** @type {Place | undefined} */
  let place;
  /** Whether the promotion happened on this screen. An earlier order is shown by the buy button. */
  let isNew = false;
  /** Whether the order of the promotion was cancelled or refunded since. */
  let isOrderClosed = false;
  /** Why the last attempt to join failed, and the order that the visitor holds already. @type {{text: string, order?: string} | undefined} */
  let problem;
  let isAsked = false;
  let drawn = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const path = `/sale/${id}/waiting-list`;
  const state = h("div", { class: "stack tight", role: "status" });
  const actions = h("div", { class: "stack tight" });
  const root = h("section", { class: "waiting-list stack", hidden: true, "aria-label": t("候补", "Waiting list") }, state, actions);
  signal.addEventListener("abort", () => clearTimeout(timer));
  onVisible(signal, () => isWaiting() && ask());
  onToken(() => {
    place = problem = undefined;
    isAsked = false;
    clearTimeout(timer);
    draw();
  }, signal);

  function isWaiting() {
    return place?.state === "WAITING" || place?.state === "OFFERED";
  }

  async function ask() {
    clearTimeout(timer);
    try {
      await take(await get(path, { signal }));
    } catch (error) {
      // The last known place stays, unless the session has ended.
      if (!signal.aborted && !(error instanceof Refusal && error.status === 401)) schedule(RETRY_AFTER_ERROR_MS);
    }
  }

  /** @param {number} ms */
  function schedule(ms) {
    clearTimeout(timer);
    if (!signal.aborted && !document.hidden) timer = setTimeout(ask, ms * (0.75 + Math.random() / 2));
  }

  /** @param {Place} fresh */
  async function take(fresh) {
    const wasWaiting = isWaiting();
    if (fresh.state === "PROMOTED" && fresh.orderId) {
      if (wasWaiting) invalidate("orders");
      const order = await get(`/voucher-order/${fresh.orderId}`, { signal }).catch(() => undefined);
      isOrderClosed = order !== undefined && order.status > STATUS.used && order.status !== STATUS.refunding;
    }
    if (signal.aborted) return;
    place = fresh;
    problem = undefined;
    isNew = fresh.state === "PROMOTED" && (isNew || wasWaiting);
    if (wasWaiting && !isWaiting()) refreshSale();
    if (isWaiting()) schedule(fresh.pollInMs);
    draw();
  }

  /** @param {import("./poll-sale.js").LiveSale} fresh */
  function show(fresh) {
    live = fresh;
    if (fresh.waitingList && hasToken() && !isAsked && effectiveState(fresh) !== "NOT_OPEN") {
      isAsked = true;
      ask();
    }
    draw();
  }

  function draw() {
    if (!live) return;
    const sale = effectiveState(live);
    const canJoin = live.waitingList && sale === "SOLD_OUT" && (!live.waitingRoom || !hasToken() || hasAdmission(id));
    const own = place?.state === "PROMOTED" && isOrderClosed ? "NONE" : place?.state ?? "NONE";
    const looks = `${own} ${isNew} ${canJoin} ${hasToken()} ${place?.ahead} ${place?.waiting} ${place?.orderId} ${problem?.text}`;
    if (looks === drawn) return;
    drawn = looks;
    root.hidden = own === "PROMOTED" ? !isNew : !canJoin && ["NONE", "LEFT", "DROPPED"].includes(own);
    const had = actions.contains(document.activeElement);
    const [says, does] = contents(own, canJoin);
    fill(state, problem && h("div", { class: "notice bad" }, icon("warn"), h("p", { class: "grow" }, problem.text)), says);
    fill(actions, problem?.order ? linkButton(t("查看我的订单", "View my order"), `#/order/${problem.order}`, { look: ["main", "wide"] }) : does);
    if (had) /** @type {HTMLElement | null} */ (actions.querySelector("a, button"))?.focus({ preventScroll: true });
  }

  /**
   * Returns texts and controls of a state.
   * @param {Place["state"]} own
   * @param {boolean} canJoin
   * @returns {[import("../../core/dom.js").Leaf[], import("../../core/dom.js").Leaf[]]}
   */
  function contents(own, canJoin) {
    const joinButton = canJoin && button(hasToken() ? t("加入候补", "Join the waiting list") : t("登录后候补", "Log in to join the waiting list"), join, { look: ["main", "wide"] });
    switch (own) {
      case "WAITING": return [[
        h("strong", null, placeText(place?.ahead ?? 0, place?.waiting ?? 1)),
        h("p", { class: "small quiet" }, t("有人没付款或退款时，按顺序轮到你，商城会自动下单。可以离开这个页面，下单后请在期限内付款。",
          "When a unit comes back, it goes to the first in the list, and the order is made for you. You can leave this page; pay for the order in time.")),
      ], [button(t("退出候补", "Leave the waiting list"), leave, { look: ["wide"] })]];
      case "OFFERED": return [[h("strong", null, t("轮到你了，正在下单…", "It is your turn: your order is being made…"))], []];
      case "PROMOTED": return [[h("div", { class: "notice good" }, icon("check"), h("div", { class: "grow" }, h("strong", null, t("候补成功！", "You got one from the waiting list!")),
        h("p", { class: "small" }, t("请在截止前付款，逾期订单会自动取消。", "Unpaid orders are cancelled after the deadline."))))],
      [linkButton(t("查看候补订单", "View the order"), `#/order/${place?.orderId}`, { look: ["main", "wide"] })]];
      case "EXPIRED": return [[h("p", { class: "quiet" }, t("秒杀结束时还没有轮到你。", "The sale ended before it was your turn."))], []];
      case "DROPPED": return [[h("p", null, t("轮到你时，你的账号不能购买这张券。", "When it was your turn, your account could not buy this voucher."))], [joinButton]];
      default: return [[h("p", null, t("已抢光。加入候补后，退回的名额会按顺序给候补的人。", "Sold out. Units that come back go to the people on the waiting list, in order."))], [joinButton]];
    }
  }

  async function join() {
    if (!hasToken()) return goToLogin();
    try {
      if (live?.guarded && !hasPass(id) && !(await solveChallenge(id, signal))) return;
      await take(await joinOnce());
    } catch (error) {
      if (signal.aborted || redirectIfUnauthorized(error)) return;
      problem = { text: errorMessage(error), order: error instanceof Refusal && error.code === "ALREADY_BOUGHT" ? error.answer.dataText : undefined };
      draw();
      refreshSale();
    }
  }

  /** Joins; a sale guarded meanwhile, and an expired pass, take one challenge more. */
  async function joinOnce() {
    for (let isRepeated = false; ; isRepeated = true) {
      try {
        const { data } = await call("POST", path, { signal, headers: claimHeaders(id) });
        return data;
      } catch (error) {
        if (isRepeated || !(error instanceof Refusal) || error.code !== "PASS_REQUIRED") throw error;
        forgetPass(id);
        if (!(await solveChallenge(id, signal))) throw error;
      }
    }
  }

  async function leave() {
    const { data } = await call("DELETE", path, { signal });
    await take(data);
  }

  return { root, show };
}

/**
 * @param {number} ahead
 * @param {number} waiting
 */
function placeText(ahead, waiting) {
  if (ahead === 0) return t(`你排在第一位，共 ${waiting} 人候补`, `You are first of ${waiting} waiting`);
  return t(`前面还有 ${ahead} 人，共 ${waiting} 人候补`, `${ahead} ${ahead === 1 ? "person" : "people"} before you, ${waiting} waiting`);
}
