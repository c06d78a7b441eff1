// The button of a sale, and what came of pressing it. It lights up at the instant, is grey until there is an answer, and then
// for as long as the mall wants it to be before the next try.

import { Refusal, hasToken, onToken } from "../../core/api.js";
import { invalidate } from "../../core/copies.js";
import { repeatWhileVisible, fill, h, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { msUntil } from "../../core/moments.js";
import { linkButton } from "../../parts/button.js";
import { icon } from "../../parts/icons.js";
import { countdownRing } from "../../parts/countdown-ring.js";
import { errorMessage, showToast } from "../../parts/toast.js";
import { toLogIn, wantsLogIn } from "../entry.js";
import { claim, claiming, held } from "./claim.js";
import { stateOf } from "./watch.js";

/** A session ends when it was not used for half an hour, and looking at a sale does not use it. */
const STAYS_MS = 10 * 60_000;
/**
 * When a sale's button may be pressed again; it stays so when one leaves and comes back.
 * @type {Map<string, import("../../core/moments.js").Moment>}
 */
const pressable = new Map();
onToken(() => pressable.clear());

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @param {() => void} look at the sale at once: something has changed
 * @returns {{root: HTMLElement, show: (live: import("./watch.js").Live) => void}}
 */
export function counter(id, signal, look) {
  /** @type {import("./watch.js").Live | undefined} */
  let live;
  let isAsking = false;
  let wasPressed = false;
  let looks = "";
  const text = h("span", null);
  const press = h("button", { type: "button", class: "button sale wide sale-press", disabled: true, onclick: buy }, text);
  const said = h("div", { class: "sale-said", role: "status" });
  // Between what happened and the button: where a captcha and one's place in the queue will stand.
  const root = h("div", { class: "sale-counter stack" }, said, press);
  const toOpening = signalSequence(signal);
  repeatWhileVisible(250, signal, draw);
  // Who waits for the opening stays logged in, or is told before it that they are not.
  repeatWhileVisible(STAYS_MS, signal, () => hasToken() && held(id, signal).catch(() => {}));
  const before = claiming(id);
  if (before) follow(before);
  else if (hasToken()) held(id, signal).then((order) => order && !claiming(id) && have(order, false), () => {});

  /** The button as it has to be now. */
  function draw() {
    if (!live) return;
    const rest = msUntil(pressable.get(id) ?? 0);
    const state = stateOf(live);
    const isOpen = state === "OPEN";
    // Before the opening there is time to log in.
    const mayPress = !isAsking && (hasToken() ? isOpen && rest <= 0 : isOpen || state === "NOT_OPEN");
    if (press.disabled === mayPress) press.disabled = !mayPress;
    // A button that goes grey loses the focus; who pressed it by key gets it back.
    if (mayPress && wasPressed && document.activeElement === document.body) press.focus({ preventScroll: true });
    if (mayPress) wasPressed = false;
    const wanted = isAsking ? "asking" : rest > 0 && isOpen ? `rest ${Math.ceil(rest / 1000)}` : `${state} ${hasToken()}`;
    if (wanted === looks) return;
    const wasResting = looks.startsWith("rest");
    looks = wanted;
    if (isAsking) text.textContent = t("正在提交…", "Asking…");
    else if (rest > 0 && isOpen) {
      text.textContent = t(`${Math.ceil(rest / 1000)} 秒后可再试`, `Again in ${Math.ceil(rest / 1000)} s`);
      if (!wasResting) press.prepend(countdownRing(rest));
      return;
    } else text.textContent = wordOf(state);
    for (const old of press.querySelectorAll(".ring")) old.remove();
  }

  /** @param {import("./watch.js").Live} fresh */
  function show(fresh) {
    live = fresh;
    draw();
    const left = msUntil(fresh.window.begins);
    // To the instant, and not at the next tick; timers take no longer spans.
    if (left <= 0 || left > 2 ** 31 - 1) return;
    const timer = setTimeout(draw, left + 1);
    toOpening().addEventListener("abort", () => clearTimeout(timer));
  }

  function buy() {
    if (!hasToken()) {
      toLogIn();
      return;
    }
    wasPressed = true;
    follow(claim(id));
  }

  /** @param {import("./claim.js").Claiming} claimed */
  async function follow(claimed) {
    const lost = () => tell("offline", t("没有收到应答，正在查明结果，不会重复购买…", "No answer came. Finding out what became of it; nothing is bought twice…"));
    claimed.watchers.add(lost);
    signal.addEventListener("abort", () => claimed.watchers.delete(lost));
    isAsking = true;
    draw();
    fill(said);
    if (claimed.isLost) lost();
    try {
      const outcome = await claimed.outcome;
      invalidate("orders");
      // What never arrived was no try.
      if (!outcome.isNothing) rest();
      if (outcome.order) have(outcome.order, outcome.isNew === true, claimed.watchers.size > 0);
      else if (outcome.isNothing) tell("warn", t("请求没有送到，什么也没买。可以再试一次。", "It did not arrive: nothing was bought. You can try again."));
      else if (outcome.refusal) refused(outcome.refusal);
    } catch (error) {
      // Whose it was has logged out.
      if (error instanceof DOMException && error.name === "AbortError") return fill(said);
      rest();
      if (!signal.aborted && !wantsLogIn(error)) tell("warn", errorMessage(error));
    } finally {
      isAsking = false;
      draw();
    }
  }

  function rest() {
    pressable.set(id, Math.max(pressable.get(id) ?? 0, performance.now() + (live?.pressAgainMs ?? 0)));
  }

  /** @param {Refusal} refusal */
  function refused(refusal) {
    if (signal.aborted || wantsLogIn(refusal)) return;
    // By the mall's clock it was too soon: that costs nothing.
    if (refusal.code === "NOT_OPEN") pressable.delete(id);
    look();
    const more = refusal.code === "SOLD_OUT" ? t("有人没付款的话，还会放出来，可以留在这里等。", "If somebody does not pay, a unit comes back: you can wait here.") : "";
    tell("warn", refusal.message, more);
  }

  /**
   * @param {string} order
   * @param {boolean} isNew
   * @param {boolean} [isTold] another screen of the sale tells it
   */
  function have(order, isNew, isTold = false) {
    if (signal.aborted) {
      if (isNew && !isTold) showToast(t("抢到了！请到订单里付款。", "You got it! Pay for it in your orders."));
      return;
    }
    look();
    const link = linkButton(isNew ? t("去付款", "Pay now") : t("查看我的订单", "See my order"), `#/order/${order}`, { look: ["main", "wide"] });
    fill(said, h("div", { class: isNew ? "notice good sale-won" : "notice" }, icon(isNew ? "check" : "ticket"),
      h("div", { class: "grow" }, h("strong", null, isNew ? t("抢到了！", "You got it!") : t("你已经买到了", "You have this one")),
        isNew && h("p", { class: "small" }, t("请在截止前付款，逾期订单会自动取消。", "Pay before the deadline, or the order is cancelled.")))), link);
    press.hidden = true;
    if (isNew) link.focus();
  }

  /**
   * @param {import("../../parts/icons.js").IconName} name
   * @param {string} words
   * @param {string} [more]
   */
  function tell(name, words, more) {
    fill(said, h("div", { class: "notice bad" }, icon(name), h("div", { class: "grow" }, h("p", null, words), more && h("p", { class: "small" }, more))));
  }

  return { root, show };
}

/** @param {import("./watch.js").State} state */
function wordOf(state) {
  switch (state) {
    case "NOT_OPEN": return hasToken() ? t("即将开抢", "Opens soon") : t("先登录，到点就抢", "Log in to be ready");
    case "OPEN": return hasToken() ? t("立即抢购", "Buy now") : t("登录后抢购", "Log in to buy");
    case "SOLD_OUT": return t("已抢光", "Sold out");
    case "PAUSED": return t("暂停中，请稍候", "On hold");
    default: return t("已结束", "Over");
  }
}
