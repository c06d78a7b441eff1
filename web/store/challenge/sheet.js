// The challenge of a guarded sale, in a dialog: solved, it earns a pass.

import { Refusal, call } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { momentAfter, msUntil } from "../../core/server-time.js";
import { button } from "../../parts/button.js";
import { openSheet } from "../../parts/sheet.js";
import { errorMessage } from "../../parts/toast.js";
import { keepPass, keepTicket, ticketHeader } from "../sale/passes.js";
import { changeText } from "./kinds.js";
import { pictureView } from "./picture.js";
import { sliderView } from "./slider.js";
import { workView } from "./work.js";

/** Interval of the countdown, in milliseconds. */
const TICK_MS = 250;

/**
 * Lets the visitor solve a challenge, and keeps the pass.
 * @param {string} voucher
 * @param {AbortSignal} signal aborts with the screen
 * @returns {Promise<boolean>} whether there is a pass
 */
export async function solveChallenge(voucher, signal) {
  const stop = new AbortController();
  let isSolved = false;
  await openSheet(t("先完成验证", "A short check first"), (close) => {
    signal.addEventListener("abort", close, { signal: stop.signal });
    const contents = challenge(voucher, stop.signal, () => {
      isSolved = true;
      close();
    });
    return [contents, h("div", { class: "buttons" }, button(t("取消", "Cancel"), close))];
  });
  stop.abort();
  return isSolved;
}

/**
 * @param {string} voucher
 * @param {AbortSignal} signal
 * @param {() => void} onPass
 */
function challenge(voucher, signal, onPass) {
  const message = h("div", { class: "challenge-said", role: "status" });
  const place = h("div", null);
  const others = h("div", { class: "stack tight" });
  /** Ends what the last challenge began, such as a worker. */
  let ended = new AbortController();
  signal.addEventListener("abort", () => ended.abort());
  load();
  return h("div", { class: "stack challenge" }, message, place, others);

  /**
   * @param {import("./kinds.js").Kind} [kind] default: the kind that the sale prefers
   * @param {string} [notice] why there is another challenge
   */
  async function load(kind, notice) {
    ended.abort();
    ended = new AbortController();
    try {
      const { data } = await call("POST", `/sale/${voucher}/challenge`, { body: { kind }, headers: ticketHeader(), signal });
      keepTicket(data.deviceTicket);
      say(notice);
      show(data);
    } catch (error) {
      if (!signal.aborted) fail(error, () => load(kind));
    }
  }

  /** @param {import("./kinds.js").Challenge} given */
  function show(given) {
    const submit = (/** @type {import("./kinds.js").Answer} */ answer) => send(given, answer);
    const view = given.picture ? pictureView(given.picture, submit, () => load("picture"))
      : given.slider ? sliderView(given.slider, submit)
      : workView(given.work ?? { salt: "", bits: 0 }, submit, ended.signal);
    fill(place, view.root);
    fill(others, given.kinds.filter((kind) => kind !== given.kind).map((kind) => button(changeText(kind), () => load(kind), { look: ["bare"] })));
    view.start();
  }

  /**
   * @param {import("./kinds.js").Challenge} given
   * @param {import("./kinds.js").Answer} answer
   */
  async function send(given, answer) {
    try {
      const response = await call("POST", `/sale/${voucher}/pass`, { body: { challenge: given.challenge, answer }, headers: ticketHeader(), signal });
      keepPass(voucher, response.data.pass, momentAfter(response.data.expiresInMs, response));
      onPass();
    } catch (error) {
      if (signal.aborted) return;
      const refusal = error instanceof Refusal ? error : undefined;
      if (refusal?.code === "NOT_OPEN") await sendLater(given, answer, refusal.answer);
      else if (refusal?.code === "CHALLENGE_FAILED") await load(given.kind, refusal.message);
      // Without a response, or while the server fails, the same answer may still count.
      else fail(error, () => send(given, answer));
    }
  }

  /**
   * Counts down to the first pass, and sends the answer then.
   * @param {import("./kinds.js").Challenge} given
   * @param {import("./kinds.js").Answer} answer
   * @param {import("../../core/api.js").ApiResponse} refused
   */
  async function sendLater(given, answer, refused) {
    const opens = momentAfter(refused.passInMs ?? 0, refused);
    const rest = h("p", { class: "challenge-rest" });
    fill(place, h("p", null, t("已通过，开抢前会自动领取通行码，请留在这里。", "Passed. Stay here: the pass is issued shortly before the sale opens.")), rest);
    fill(others);
    say();
    for (;;) {
      const left = msUntil(opens);
      if (left <= 0) break;
      rest.textContent = t(`${Math.ceil(left / 1000)} 秒`, `${Math.ceil(left / 1000)} s`);
      await new Promise((resolve) => setTimeout(resolve, Math.min(left, TICK_MS)));
      if (signal.aborted) return;
    }
    await send(given, answer);
  }

  /** @param {string} [notice] */
  function say(notice) {
    fill(message, notice && h("div", { class: "notice bad" }, h("p", null, notice)));
  }

  /**
   * @param {unknown} error
   * @param {() => Promise<void>} again
   */
  function fail(error, again) {
    say(errorMessage(error));
    message.append(button(t("再试一次", "Try again"), again, { look: ["main", "wide"] }));
  }
}
