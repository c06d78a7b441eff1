// The challenge of a guarded sale, in a dialog: solved, it earns a pass.

import { Refusal, call } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { isKiosk } from "../../core/local-storage.js";
import { momentAfter, msUntil } from "../../core/server-time.js";
import { button } from "../../parts/button.js";
import { openSheet } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { errorMessage } from "../../parts/toast.js";
import { answerHeaders, challengeHeaders, isPassRefused, keepPass, keepTicket } from "../sale/passes.js";
import { changeText } from "./kinds.js";
import { pictureView } from "./picture.js";
import { serviceView } from "./service.js";
import { sliderView } from "./slider.js";
import { workView } from "./work.js";

/** Interval of countdowns, in milliseconds. */
const TICK_MS = 250;

/**
 * Lets the visitor solve a challenge, and keeps the pass. Throws a refusal after which no challenge helps,
 * such as that of an ended sale.
 * @param {string} voucher
 * @param {AbortSignal} signal aborts with the screen
 * @returns {Promise<boolean>} whether a claim can follow; false if the visitor closed the dialog
 */
export async function solveChallenge(voucher, signal) {
  const stop = new AbortController();
  let isSolved = false;
  /** @type {unknown} */
  let failure;
  const isSecond = isPassRefused(voucher);
  await openSheet(isSecond ? t("再验证一次", "One more check") : t("先完成验证", "A short check first"), (close) => {
    signal.addEventListener("abort", close, { signal: stop.signal });
    const contents = challenge(voucher, stop.signal, (error) => {
      isSolved = error === undefined;
      failure = error;
      close();
    });
    const reason = isSecond && h("p", null, t("这次抢购像是脚本发出的，请再验证一次。排队的位置还在，通过后自动继续抢购。",
      "The claim looked like a script's. You keep your place: pass one more check, and the claim is sent again."));
    return [reason, contents, h("div", { class: "buttons" }, button(t("取消", "Cancel"), close))];
  });
  stop.abort();
  if (failure !== undefined) throw failure;
  return isSolved;
}

/**
 * @param {string} voucher
 * @param {AbortSignal} signal
 * @param {(error?: Refusal) => void} onEnd called once a claim can follow, or with a refusal after which
 * neither a retry nor another answer helps
 */
function challenge(voucher, signal, onEnd) {
  const message = h("div", { class: "challenge-said", role: "status" });
  const again = h("div", null);
  const place = h("div", null, skeletons(1, "10rem"));
  const others = h("div", { class: "stack tight" });
  /** Aborts with the present challenge. */
  let present = new AbortController();
  signal.addEventListener("abort", () => present.abort());
  load();
  return h("div", { class: "stack challenge" }, message, again, place, others);

  /**
   * @param {import("./kinds.js").Kind} [kind] default: the kind that the sale prefers
   * @param {string} [notice] why there is another challenge
   * @returns {Promise<void>}
   */
  async function load(kind, notice) {
    present.abort();
    present = new AbortController();
    const mine = AbortSignal.any([signal, present.signal]);
    // The present challenge is void.
    place.inert = true;
    try {
      const { data } = await call("POST", `/sale/${voucher}/challenge`, { body: { kind }, headers: challengeHeaders(voucher), signal: mine });
      if (mine.aborted) return;
      keepTicket(data.deviceTicket);
      const kinds = usableKinds(data.kinds);
      if (kinds.length === 0) return showUnusable();
      // The mall may insist on a kind that this device cannot show.
      if (!kinds.includes(data.kind) && kind !== undefined) return showUnusable();
      if (!kinds.includes(data.kind)) return load(kinds[0], notice);
      say(notice, "bad");
      show(data, kinds, mine);
    } catch (error) {
      if (mine.aborted) return;
      fill(place);
      // The operator has changed the kinds meanwhile.
      if (error instanceof Refusal && error.code === "KIND_NOT_ALLOWED" && kind) await load();
      else fail(error, () => load(kind, notice));
    }
  }

  /**
   * @param {import("./kinds.js").Challenge} given
   * @param {import("./kinds.js").Kind[]} kinds
   * @param {AbortSignal} mine
   */
  function show(given, kinds, mine) {
    const submit = (/** @type {import("./kinds.js").Answer} */ answer) => send(given, answer, mine);
    const view = given.picture ? pictureView(given.picture, submit, () => load("picture"))
      : given.slider ? sliderView(given.slider, submit)
      : given.service ? serviceView(given.service, submit, () => load(kinds.find((kind) => kind !== "service"), serviceNotice()), mine)
      : workView(given.work ?? { salt: "", bits: 0 }, submit, mine);
    display(view.root);
    fill(others, kinds.filter((kind) => kind !== given.kind).map((kind) => button(changeText(kind), () => load(kind), { look: ["bare"] })));
    view.start();
  }

  /**
   * @param {import("./kinds.js").Challenge} given
   * @param {import("./kinds.js").Answer} answer
   * @param {AbortSignal} mine
   */
  async function send(given, answer, mine) {
    const body = { challenge: given.challenge, answer };
    try {
      const response = await call("POST", `/sale/${voucher}/pass`, { body, headers: answerHeaders(voucher), signal: mine });
      keepPass(voucher, response.data.pass, momentAfter(response.data.expiresInMs, response));
      onEnd();
    } catch (error) {
      if (mine.aborted) return;
      const refusal = error instanceof Refusal ? error : undefined;
      if (refusal?.code === "NOT_OPEN") await sendLater(given, answer, refusal.answer, mine);
      else if (refusal?.code === "CHALLENGE_FAILED") await load(given.kind, refusal.message);
      // A refused answer is used up. Without a response, or while the server fails, it may still count.
      else fail(error, () => (refusal?.status === 429 ? load(given.kind) : send(given, answer, mine)));
    }
  }

  /**
   * Counts down to the first pass, and sends the answer then.
   * @param {import("./kinds.js").Challenge} given
   * @param {import("./kinds.js").Answer} answer
   * @param {import("../../core/api.js").ApiResponse} refused
   * @param {AbortSignal} mine
   */
  async function sendLater(given, answer, refused, mine) {
    say(t("已通过，请留在这里，开抢时自动为你抢购。", "Passed. Stay here: your claim is sent when the sale opens."), "good");
    const rest = h("p", { class: "challenge-rest", role: "timer", tabindex: "-1" });
    display(rest);
    fill(others);
    rest.focus();
    const isOver = await countDown(momentAfter(refused.passInMs ?? 0, refused), mine,
      (seconds) => (rest.textContent = t(`${seconds} 秒`, `${seconds} s`)));
    if (isOver) await send(given, answer, mine);
  }

  /** @param {HTMLElement} content */
  function display(content) {
    place.inert = false;
    fill(place, content);
  }

  /**
   * @param {string} [text] nothing if empty
   * @param {"good" | "bad"} [look]
   */
  function say(text, look = "bad") {
    fill(again);
    fill(message, text && h("div", { class: `notice ${look}` }, h("p", null, text)));
  }

  /** No kind can be solved here. */
  function showUnusable() {
    say(t("这场秒杀的验证要用键盘输入，请用手机抢购。", "The check of this sale takes a keyboard: please buy on your phone."));
    fill(place);
  }

  /**
   * Shows an error with a button, which a rate limit disables for a while.
   * @param {unknown} error
   * @param {() => Promise<void>} repeat
   */
  async function fail(error, repeat) {
    if (error instanceof Refusal && !error.isTrouble) return onEnd(error.code === "NOT_GUARDED" ? undefined : error);
    say(errorMessage(error));
    const text = t("再试一次", "Try again");
    const retry = button(text, repeat, { look: ["main", "wide"] });
    fill(again, retry);
    const waitMs = error instanceof Refusal ? error.answer.retryAfterMs ?? 0 : 0;
    if (waitMs > 0) {
      retry.disabled = true;
      await countDown(performance.now() + waitMs, signal, (seconds) => (retry.textContent = t(`${seconds} 秒后可再试`, `Retry in ${seconds} s`)));
      retry.textContent = text;
      retry.disabled = false;
    }
    if (document.activeElement === document.body) retry.focus();
  }
}

/**
 * Returns the kinds that can be solved on this device. A kiosk has no keyboard, and loads nothing from other
 * servers.
 * @param {import("./kinds.js").Kind[]} kinds
 */
function usableKinds(kinds) {
  return isKiosk ? kinds.filter((kind) => kind !== "picture" && kind !== "service") : kinds;
}

/** Returns why there is another challenge in place of an external service's. */
function serviceNotice() {
  return t("人机验证加载失败，请换这种方式完成验证。", "The CAPTCHA could not be loaded; please take this check instead.");
}

/**
 * Reports the seconds left until a moment.
 * @param {import("../../core/server-time.js").Moment} end
 * @param {AbortSignal} signal
 * @param {(seconds: number) => void} show
 * @returns {Promise<boolean>} false if aborted before
 */
async function countDown(end, signal, show) {
  for (;;) {
    const left = msUntil(end);
    if (signal.aborted || left <= 0) return !signal.aborted;
    show(Math.ceil(left / 1_000));
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, TICK_MS)));
  }
}
