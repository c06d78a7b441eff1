// The form for comments and replies. The draft stays until the server has the comment, which is sent once.

import { hasToken, currentToken } from "../../core/api.js";
import { isInDoubt, waitUntilDecided } from "../../core/in-doubt.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { cachedMe, me } from "../../core/session.js";
import { whileBusy, button } from "../../parts/button.js";
import { showToast } from "../../parts/toast.js";
import { goToLogin, redirectIfUnauthorized } from "../login-guard.js";

const MAX_LENGTH = 512;
/**
 * The draft, and a comment in doubt with the ids known before. Both outlive re-rendering of the screen.
 * @typedef {{text: string, lost?: {content: string, known: number[]}}} Draft
 */
/**
 * Drafts by target, with their author: another user may log in on the same device.
 * @type {Map<string, Draft & {token: string | null, person?: number}>}
 */
const drafts = new Map();

/**
 * Comments being sent, by author and target: the screen may be left and opened again.
 * @type {Map<string, Promise<{content: string, id: number}>>}
 */
const pending = new Map();

/**
 * @param {string} to
 * @returns {Draft | undefined}
 */
function draftOf(to) {
  const draft = drafts.get(to);
  const isMine = draft && (draft.token === currentToken() || (draft.person !== undefined && draft.person === cachedMe()?.id));
  return isMine ? draft : undefined;
}

/**
 * @param {string} to
 * @param {Draft} draft
 */
function saveDraft(to, { text, lost }) {
  drafts.set(to, { text, lost, token: currentToken(), person: cachedMe()?.id });
}

/**
 * @param {object} options
 * @param {string} options.to identifies the target
 * @param {string} options.label
 * @param {() => number[]} options.known returns the ids of the loaded comments
 * @param {(content: string) => Promise<number>} options.send returns the new comment's id
 * @param {() => Promise<import("./comments.js").Comment[]>} options.newest reads the newest comments of all
 * users
 * @param {(content: string, id: number) => unknown} options.sent
 * @returns {{root: HTMLElement, input: HTMLTextAreaElement}}
 */
export function commentForm({ to, label, known, send, newest, sent }) {
  const input = h("textarea", { class: "input", rows: 1, maxlength: MAX_LENGTH, "aria-label": label, placeholder: label });
  input.value = draftOf(to)?.text ?? "";
  const submit = h("button", { type: "submit", class: "button main" }, t("发送", "Send"));
  const root = h("form", { class: "row comment-form", onsubmit: submitForm }, input, submit);
  input.addEventListener("input", () => {
    saveDraft(to, { ...draftOf(to), text: input.value });
    resize();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) root.requestSubmit();
  });
  resize();
  return { root, input };

  function resize() {
    submit.disabled = input.value.trim() === "";
    // Adapts the height to the content.
    input.style.height = "auto";
    if (input.scrollHeight > 0) input.style.height = `${Math.min(input.scrollHeight + 2, 160)}px`;
  }

  /** @param {SubmitEvent} event */
  function submitForm(event) {
    event.preventDefault();
    if (!hasToken()) {
      goToLogin();
      return;
    }
    whileBusy(submit, async () => {
      const content = input.value.trim();
      if (!content) return;
      try {
        const requestKey = `${currentToken()} ${to}`;
        const pendingResult = await pending.get(requestKey)?.catch(() => undefined);
        if (pendingResult) return onSent(pendingResult.content, pendingResult.id);
        const { lost } = draftOf(to) ?? {};
        // Look for a comment in doubt before sending anything.
        const lostId = lost && (await findLost(lost));
        if (lost && lostId !== undefined) onSent(lost.content, lostId);
        else {
          const request = sendOnce(content).finally(() => pending.delete(requestKey));
          pending.set(requestKey, request);
          onSent(content, (await request).id);
        }
      } catch (error) {
        if (!redirectIfUnauthorized(error)) throw error;
      }
    });
  }

  /** @param {NonNullable<Draft["lost"]>} lost */
  async function findLost({ content, known: knownIds }) {
    const userId = (await me())?.id;
    return (await newest()).find((one) => one.userId === userId && one.content === content && !knownIds.includes(one.id))?.id;
  }

  /** @param {string} content */
  async function sendOnce(content) {
    saveDraft(to, { text: input.value, lost: { content, known: known() } });
    try {
      return { content, id: await send(content) };
    } catch (error) {
      if (isInDoubt(error)) await waitUntilDecided();
      // The draft keeps its author, who may have to log in again.
      else delete drafts.get(to)?.lost;
      throw error;
    }
  }

  /**
   * @param {string} content
   * @param {number} id
   */
  function onSent(content, id) {
    // The user may have typed something else since.
    const isSame = input.value.trim() === content;
    if (isSame) input.value = "";
    else showToast(t("刚才那条已经发出了", "Your earlier comment was posted"));
    saveDraft(to, { text: input.value });
    resize();
    sent(content, id);
  }
}

/** Creates the button shown instead of the form when logged out. */
export function logInToComment() {
  return button(t("登录后参与评论", "Log in to comment"), () => goToLogin(), { look: ["wide"] });
}
