// Where one writes a comment or an answer. What was typed stays until the mall has it, and is said once.

import { hasToken, currentToken } from "../../core/api.js";
import { isInDoubt, waitUntilDecided } from "../../core/doubt.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { cachedMe, me } from "../../core/session.js";
import { whileBusy, button } from "../../parts/button.js";
import { showToast } from "../../parts/toast.js";
import { toLogIn, wantsLogIn } from "../entry.js";

const LONGEST = 512;
/**
 * What is typed, and what was sent without an answer: with what was there before it. Both stay while the screen is drawn anew.
 * @typedef {{text: string, lost?: {content: string, known: number[]}}} Typed
 */
/** By what it is said to; and whose it is, as on one device another may log in. @type {Map<string, Typed & {token: string | null, person?: number}>} */
const typed = new Map();

/** What is on its way, by who says it and to what: the screen may be left, and opened again. @type {Map<string, Promise<{content: string, id: number}>>} */
const underWay = new Map();

/**
 * @param {string} to
 * @returns {Typed | undefined}
 */
function typedTo(to) {
  const one = typed.get(to);
  const isMine = one && (one.token === currentToken() || (one.person !== undefined && one.person === cachedMe()?.id));
  return isMine ? one : undefined;
}

/**
 * @param {string} to
 * @param {Typed} what
 */
function keepTyped(to, { text, lost }) {
  typed.set(to, { text, lost, token: currentToken(), person: cachedMe()?.id });
}

/**
 * @param {object} options
 * @param {string} options.to tells this form from others
 * @param {string} options.label
 * @param {() => number[]} options.known what is there already
 * @param {(content: string) => Promise<number>} options.send answers its id
 * @param {() => Promise<import("./comments.js").Comment[]>} options.newest what was said last, by anybody
 * @param {(content: string, id: number) => unknown} options.sent
 * @returns {{root: HTMLElement, input: HTMLTextAreaElement}}
 */
export function commentForm({ to, label, known, send, newest, sent }) {
  const input = h("textarea", { class: "input", rows: 1, maxlength: LONGEST, "aria-label": label, placeholder: label });
  input.value = typedTo(to)?.text ?? "";
  const submit = h("button", { type: "submit", class: "button main" }, t("发送", "Send"));
  const root = h("form", { class: "row comment-form", onsubmit: press }, input, submit);
  input.addEventListener("input", () => {
    keepTyped(to, { ...typedTo(to), text: input.value });
    fit();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) root.requestSubmit();
  });
  fit();
  return { root, input };

  function fit() {
    submit.disabled = input.value.trim() === "";
    // As high as what is in it.
    input.style.height = "auto";
    if (input.scrollHeight > 0) input.style.height = `${Math.min(input.scrollHeight + 2, 160)}px`;
  }

  /** @param {SubmitEvent} event */
  function press(event) {
    event.preventDefault();
    if (!hasToken()) {
      toLogIn();
      return;
    }
    whileBusy(submit, async () => {
      const content = input.value.trim();
      if (!content) return;
      try {
        const by = `${currentToken()} ${to}`;
        const running = await underWay.get(by)?.catch(() => undefined);
        if (running) return arrived(running.content, running.id);
        const { lost } = typedTo(to) ?? {};
        // No answer came to it: it is looked for before anything is sent.
        const there = lost && (await found(lost));
        if (lost && there !== undefined) arrived(lost.content, there);
        else {
          const sending = sentOff(content).finally(() => underWay.delete(by));
          underWay.set(by, sending);
          arrived(content, (await sending).id);
        }
      } catch (error) {
        if (!wantsLogIn(error)) throw error;
      }
    });
  }

  /** @param {NonNullable<Typed["lost"]>} lost */
  async function found({ content, known: before }) {
    const mine = (await me())?.id;
    return (await newest()).find((one) => one.userId === mine && one.content === content && !before.includes(one.id))?.id;
  }

  /** @param {string} content */
  async function sentOff(content) {
    keepTyped(to, { text: input.value, lost: { content, known: known() } });
    try {
      return { content, id: await send(content) };
    } catch (error) {
      if (isInDoubt(error)) await waitUntilDecided();
      // Whose it is stays as it was: they may have to log in again.
      else delete typed.get(to)?.lost;
      throw error;
    }
  }

  /**
   * @param {string} content
   * @param {number} id
   */
  function arrived(content, id) {
    // Something else may have been typed since.
    const isSame = input.value.trim() === content;
    if (isSame) input.value = "";
    else showToast(t("刚才那条已经发出了", "What you sent before has arrived"));
    keepTyped(to, { text: input.value });
    fit();
    sent(content, id);
  }
}

/** For who is not logged in. */
export function logInToComment() {
  return button(t("登录后参与评论", "Log in to comment"), () => toLogIn(), { look: ["wide"] });
}
