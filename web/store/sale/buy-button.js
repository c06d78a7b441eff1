// The buy button of a flash sale, and the outcome of a claim. The button is enabled at the opening, disabled
// while a claim runs, and then for the server's retry interval.

import { Refusal, get, hasToken, onToken } from "../../core/api.js";
import { invalidate } from "../../core/cache.js";
import { repeatWhileVisible, fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { go } from "../../core/router.js";
import { msUntil } from "../../core/server-time.js";
import { logOut } from "../../core/session.js";
import { button, linkButton } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { countdownRing } from "../../parts/countdown-ring.js";
import { errorMessage, showToast } from "../../parts/toast.js";
import { goToLogin, redirectIfUnauthorized } from "../login-guard.js";
import { solveChallenge } from "../challenge/sheet.js";
import { shortfallText } from "../people/level-card.js";
import { claim, ownOrders, runningClaim } from "./claim.js";
import { hasAdmission, hasPass } from "./passes.js";
import { effectiveState } from "./poll-sale.js";

/** A session ends after 30 minutes without authenticated requests, and polling a sale is none. */
const KEEP_ALIVE_MS = 10 * 60_000;
/** Refusals after which the visitor solves a challenge, and the claim is sent once more. */
const CHALLENGE_CODES = ["PASS_REQUIRED", "CHALLENGE_AGAIN"];
/** Challenges of a guarded sale are given from a minute before the opening. */
const CHALLENGES_BEFORE_MS = 60_000;
/**
 * Time from which the button is enabled again, kept when the user leaves the screen.
 * @type {Map<string, import("../../core/server-time.js").Moment>}
 */
const enabledAt = new Map();
onToken(() => enabledAt.clear());

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @param {() => void} refreshSale refreshes the sale after a change
 * @returns {{root: HTMLElement, show: (live: import("./poll-sale.js").LiveSale) => void, limit: (minLevel: number, perUser: number) => void}}
 * `limit`: sets the lowest level allowed to buy, and the units that a user may hold; a user below the level sees both
 * levels on the button, which leads to the screen of the level
 */
export function buyButton(id, signal, refreshSale) {
  /** @type {import("./poll-sale.js").LiveSale | undefined} */
  let live;
  let isPending = false;
  let isVerifying = false;
  let wasPressed = false;
  let currentState = "";
  /** The user's level, too low for the sale. @type {{needed: number, has: number} | undefined} */
  let shortfall;
  let isLimited = false;
  /** Units that a user may hold. */
  let perUser = 1;
  /** The user's orders. @type {Set<string>} */
  const held = new Set();
  /** Whether the user has all units allowed: an order is shown instead of the button. */
  let isBought = false;
  /** Whether the claim is sent at the opening: the visitor took the check of a guarded sale before. */
  let isWaiting = false;
  const text = h("span", null);
  const purchaseButton = h("button", { type: "button", class: "button sale wide sale-press", disabled: true, onclick: buy }, text);
  const messages = h("div", { class: "sale-said", role: "status" });
  const limitText = h("p", { class: "small quiet sale-limit", hidden: true });
  const root = h("div", { class: "sale-counter stack" }, messages, purchaseButton, limitText);
  const toOpening = signalSequence(signal);
  repeatWhileVisible(250, signal, draw);
  // Keeps the session alive for waiting users, and reports a lost session before the opening.
  repeatWhileVisible(KEEP_ALIVE_MS, signal, () => hasToken() && ownOrders(id, signal).catch(() => {}));
  const resumedClaim = runningClaim(id);
  if (resumedClaim) followClaim(resumedClaim);
  else if (hasToken()) ownOrders(id, signal).then((orders) => !runningClaim(id) && showOrders(orders), () => {});

  /** Updates the button. */
  function draw() {
    if (!live) return;
    const rest = msUntil(enabledAt.get(id) ?? 0);
    const state = effectiveState(live);
    // A log-out takes the pass along.
    if (isWaiting && (state !== "NOT_OPEN" || !hasPass(id))) {
      stopWaiting();
      if (state === "OPEN" && hasPass(id)) return void followClaim(claim(id, held.size));
    }
    // The waiting room is shown instead.
    purchaseButton.hidden = isBought || (live.waitingRoom && hasToken() && !hasAdmission(id) && state !== "ENDED");
    const isOpen = state === "OPEN";
    const isShort = isTooLow(state);
    // The button has the level then.
    limitText.hidden = !isLimited || isShort || purchaseButton.hidden;
    // An empty bar would cover a part of a phone's screen.
    root.hidden = purchaseButton.hidden && !messages.hasChildNodes();
    // Before the opening there is time to log in.
    const canVerify = canVerifyFirst(state);
    const isEnabled = !isPending && (isShort || canVerify || (hasToken() ? isOpen && rest <= 0 : isOpen || state === "NOT_OPEN"));
    if (purchaseButton.disabled === isEnabled) purchaseButton.disabled = !isEnabled;
    // A disabled button loses the focus; keyboard users get the focus back.
    if (isEnabled && wasPressed && document.activeElement === document.body) purchaseButton.focus({ preventScroll: true });
    if (isEnabled) wasPressed = false;
    const nextState = isVerifying ? "verifying" : isPending ? "asking" : isShort ? `short ${shortfall?.needed} ${shortfall?.has}` : rest > 0 && isOpen ? `rest ${Math.ceil(rest / 1000)}` : `${state} ${hasToken()} ${live.nextWave !== undefined} ${canVerify} ${held.size} ${perUser}`;
    if (nextState === currentState) return;
    const wasCoolingDown = currentState.startsWith("rest");
    currentState = nextState;
    if (isVerifying) text.textContent = t("正在验证…", "Checking…");
    else if (isPending) text.textContent = t("正在提交…", "Submitting…");
    else if (isShort && shortfall) text.textContent = shortfallText(shortfall);
    else if (rest > 0 && isOpen) {
      text.textContent = t(`${Math.ceil(rest / 1000)} 秒后可再试`, `Retry in ${Math.ceil(rest / 1000)} s`);
      if (!wasCoolingDown) purchaseButton.prepend(countdownRing(rest));
      return;
    } else if (canVerify) text.textContent = t("先完成验证", "Take the check now");
    else if (state === "SOLD_OUT" && live.nextWave) text.textContent = t("等待下一批", "Waiting for the next wave");
    else if (state === "OPEN" && held.size > 0) text.textContent = t(`再抢一份（已有 ${held.size}/${perUser}）`, `Buy another (${held.size} of ${perUser})`);
    else text.textContent = buttonText(state);
    for (const old of purchaseButton.querySelectorAll(".ring")) old.remove();
  }

  /**
   * Whether the challenge of a guarded sale can be solved before the opening.
   * @param {import("./poll-sale.js").State} state
   */
  function canVerifyFirst(state) {
    return live !== undefined && live.guarded && state === "NOT_OPEN" && hasToken() && !hasPass(id)
      && msUntil(live.window.begins) <= CHALLENGES_BEFORE_MS;
  }

  /** @param {import("./poll-sale.js").LiveSale} fresh */
  function show(fresh) {
    live = fresh;
    draw();
    const left = msUntil(fresh.window.begins);
    // Fires exactly at the opening, within the longest delay of timers.
    if (left <= 0 || left > 2 ** 31 - 1) return;
    const timer = setTimeout(draw, left + 1);
    toOpening().addEventListener("abort", () => clearTimeout(timer));
  }

  /**
   * Whether the user's level is too low for a sale that would otherwise be of interest.
   * @param {import("./poll-sale.js").State} state
   */
  function isTooLow(state) {
    return shortfall !== undefined && hasToken() && ["NOT_OPEN", "OPEN", "PAUSED"].includes(state);
  }

  /**
   * @param {number} minLevel
   * @param {number} units
   */
  async function limit(minLevel, units) {
    perUser = units;
    isBought = held.size >= perUser;
    isLimited = minLevel > 0;
    limitText.textContent = t(`仅限 ${minLevel} 级以上会员`, `Members of level ${minLevel} or higher`);
    draw();
    if (!isLimited || !hasToken()) return;
    // Without a response the button stays, and the mall decides.
    const own = await get("/user/level", { signal }).catch(() => undefined);
    if (signal.aborted || own === undefined) return;
    shortfall = own.level < minLevel ? { needed: minLevel, has: own.level } : undefined;
    draw();
  }

  async function buy() {
    if (!hasToken()) {
      goToLogin();
      return;
    }
    if (live && isTooLow(effectiveState(live))) {
      go("/me/level");
      return;
    }
    wasPressed = true;
    if (live?.guarded && !hasPass(id) && !(await verify())) return;
    if (live && effectiveState(live) === "NOT_OPEN") waitForOpening();
    else followClaim(claim(id, held.size));
  }

  /** Lets the visitor solve the sale's challenge. Returns whether a claim can follow. */
  async function verify() {
    isPending = isVerifying = true;
    draw();
    try {
      return (await solveChallenge(id, signal)) && !signal.aborted;
    } catch (error) {
      if (!signal.aborted && !redirectIfUnauthorized(error)) showNotice("warn", errorMessage(error));
      return false;
    } finally {
      isPending = isVerifying = false;
      draw();
    }
  }

  /** The claim is sent at the opening, unless the visitor cancels it or leaves the screen. */
  function waitForOpening() {
    isWaiting = true;
    const cancel = button(t("不自动抢购", "Do not buy automatically"), stopWaiting, { look: ["wide"] });
    fill(messages, h("div", { class: "notice good" }, icon("check"), h("div", { class: "grow" }, h("strong", null, t("验证已完成", "Check passed")),
      h("p", { class: "small" }, t("开抢时自动为你抢购，请留在这个页面。", "Stay on this page: your claim is sent when the sale opens.")))), cancel);
    cancel.focus({ preventScroll: true });
    draw();
  }

  /** The pass stays, for a press of the button. */
  function stopWaiting() {
    isWaiting = false;
    fill(messages);
  }

  /**
   * @param {import("./claim.js").RunningClaim} runningClaim
   * @param {string[]} [solved] refusals of preceding claims that led to a challenge: each does once
   */
  async function followClaim(runningClaim, solved = []) {
    const showLost = () => showNotice("offline", t("没有收到响应，正在查询结果，不会重复购买…", "No response. Checking the result; nothing is bought twice…"));
    runningClaim.watchers.add(showLost);
    signal.addEventListener("abort", () => runningClaim.watchers.delete(showLost));
    isPending = true;
    draw();
    fill(messages);
    if (runningClaim.isLost) showLost();
    /** Refusal after which a challenge follows. */
    let unsolved = "";
    try {
      const outcome = await runningClaim.outcome;
      invalidate("orders");
      // A claim that never arrived needs no cool-down.
      if (!outcome.isNothing) coolDown();
      if (outcome.order) showOrder(outcome.order, outcome.isNew === true, runningClaim.watchers.size > 0);
      else if (outcome.isNothing) showNotice("warn", t("请求没有送达，没有产生订单。可以再试一次。", "The request did not arrive, and nothing was bought. Try again."));
      else if (outcome.refusal && leadsToChallenge(outcome.refusal.code, solved)) unsolved = outcome.refusal.code;
      else if (outcome.refusal) showRefusal(outcome.refusal);
    } catch (error) {
      // The claim's user has logged out.
      if (error instanceof DOMException && error.name === "AbortError") return fill(messages);
      coolDown();
      if (!signal.aborted && !redirectIfUnauthorized(error)) showNotice("warn", errorMessage(error));
    } finally {
      isPending = false;
      draw();
    }
    // Guarded meanwhile, expired pass, or a claim that looked automated: a challenge without another press.
    if (unsolved === "") return;
    enabledAt.delete(id);
    refreshSale();
    if (await verify()) await followClaim(claim(id, held.size), [...solved, unsolved]);
  }

  /**
   * @param {string} code
   * @param {string[]} solved
   */
  function leadsToChallenge(code, solved) {
    return CHALLENGE_CODES.includes(code) && !solved.includes(code) && !signal.aborted;
  }

  function coolDown() {
    enabledAt.set(id, Math.max(enabledAt.get(id) ?? 0, performance.now() + (live?.pressAgainMs ?? 0)));
  }

  /** @param {Refusal} refusal */
  function showRefusal(refusal) {
    if (signal.aborted || redirectIfUnauthorized(refusal)) return;
    // Too early by the server's clock, or without pass or admission: no cool-down.
    if (["NOT_OPEN", "ADMISSION_REQUIRED", ...CHALLENGE_CODES].includes(refusal.code)) enabledAt.delete(id);
    refreshSale();
    const more = refusal.code === "SOLD_OUT" && !live?.nextWave && !live?.waitingList ? t("有人没付款的话，还会放出来，可以留在这里等。", "Units of unpaid orders come back on sale, so you can wait here.") : "";
    showNotice("warn", refusal.message, more);
    if (refusal.code === "LIMIT_REACHED") isBought = true;
    if (refusal.code === "SMS_CODE_NEEDED") messages.append(button(t("重新登录", "Log in again"), logInAgain, { look: ["wide"] }));
    if (refusal.code === "LEVEL_TOO_LOW") messages.append(linkButton(t("查看会员等级", "View my level"), "#/me/level", { look: ["wide"] }));
  }

  /** Ends the session, since a session keeps the way of its log-in, and leads to the log-in. */
  async function logInAgain() {
    await logOut();
    goToLogin();
  }

  /** @param {string[]} orders of the user, the newest first */
  function showOrders(orders) {
    for (const order of orders) held.add(order);
    if (orders.length > 0) showOrder(orders[0], false);
  }

  /**
   * @param {string} order
   * @param {boolean} isNew
   * @param {boolean} [isShownElsewhere] another open screen of the sale shows the outcome
   */
  function showOrder(order, isNew, isShownElsewhere = false) {
    if (signal.aborted) {
      if (isNew && !isShownElsewhere) showToast(t("抢到了！请到订单里付款。", "You got it! Pay for it under Orders."));
      return;
    }
    held.add(order);
    refreshSale();
    const link = linkButton(isNew ? t("去付款", "Pay now") : t("查看我的订单", "View my order"), `#/order/${order}`, { look: ["main", "wide"] });
    fill(messages, h("div", { class: isNew ? "notice good sale-won" : "notice" }, icon(isNew ? "check" : "ticket"),
      h("div", { class: "grow" }, h("strong", null, isNew ? t("抢到了！", "You got it!") : t("你已经买到了", "You already have this voucher")),
        isNew && h("p", { class: "small" }, t("请在截止前付款，逾期订单会自动取消。", "Unpaid orders are cancelled after the deadline.")))), link);
    isBought = purchaseButton.hidden = held.size >= perUser;
    root.hidden = false;
    if (isNew) link.focus();
  }

  /**
   * @param {import("../../parts/icons.js").IconName} name
   * @param {string} message
   * @param {string} [more]
   */
  function showNotice(name, message, more) {
    fill(messages, h("div", { class: "notice bad" }, icon(name), h("div", { class: "grow" }, h("p", null, message), more && h("p", { class: "small" }, more))));
  }

  return { root, show, limit };
}

/** @param {import("./poll-sale.js").State} state */
function buttonText(state) {
  switch (state) {
    case "NOT_OPEN": return hasToken() ? t("即将开抢", "Opens soon") : t("先登录，到点就抢", "Log in now to be ready");
    case "OPEN": return hasToken() ? t("立即抢购", "Buy now") : t("登录后抢购", "Log in to buy");
    case "SOLD_OUT": return t("已抢光", "Sold out");
    case "PAUSED": return t("暂停中，请稍候", "Paused");
    default: return t("已结束", "Ended");
  }
}
