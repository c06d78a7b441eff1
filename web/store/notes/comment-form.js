// Where one writes a comment or an answer. What was typed stays until the mall has it.

import { Unreachable, hasToken } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { both } from "../../core/language.js";
import { knownMe } from "../../core/session.js";
import { busy, button } from "../../parts/button.js";
import { toLogIn, wantsLogIn } from "../entry.js";

const LONGEST = 512;
/** What is typed stays while the screen is drawn anew, by who says it and to what. */
const typed = new Map();

/**
 * @param {object} how
 * @param {string} how.to tells this form from others
 * @param {string} how.label
 * @param {(content: string) => Promise<unknown>} how.send
 * @param {(content: string) => Promise<boolean>} how.isThere whether it came, where no answer told
 * @param {(content: string) => unknown} how.sent
 * @returns {{root: HTMLElement, input: HTMLTextAreaElement}}
 */
export function commentForm({ to, label, send, isThere, sent }) {
  let isUnsure = false;
  const input = h("textarea", { class: "input", rows: 1, maxlength: LONGEST, "aria-label": label, placeholder: label });
  // On one device another may log in.
  const by = `${knownMe()?.id} ${to}`;
  input.value = typed.get(by) ?? "";
  const submit = h("button", { type: "submit", class: "button main" }, both("发送", "Send"));
  const root = h("form", { class: "row comment-form", onsubmit: press }, input, submit);
  input.addEventListener("input", () => {
    isUnsure = false;
    typed.set(by, input.value);
    settle();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) root.requestSubmit();
  });
  settle();
  return { root, input };

  function settle() {
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
    busy(submit, async () => {
      const content = input.value.trim();
      if (!content) return;
      try {
        if (!isUnsure || !(await isThere(content))) await send(content);
      } catch (error) {
        // No answer came: it is looked for before it is sent again.
        if (error instanceof Unreachable) isUnsure = true;
        if (!wantsLogIn(error)) throw error;
        return;
      }
      isUnsure = false;
      typed.delete(by);
      input.value = "";
      settle();
      sent(content);
    });
  }
}

/** For who is not logged in. */
export function logInToComment() {
  return button(both("登录后参与评论", "Log in to comment"), () => toLogIn(), { look: ["wide"] });
}
