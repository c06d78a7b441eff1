// A piece to be moved to its gap: by dragging, by presses of buttons, and by the arrow keys.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { isKiosk } from "../../core/local-storage.js";
import { button } from "../../parts/button.js";

/** Maximum number of samples that the mall takes. */
const SAMPLES_MAX = 500;
/** Distance from the handle within which a press moves it, in pixels of the page. */
const REACH = 44;
/** Pixels that a press of a button moves the piece. The mall takes a piece up to 5 pixels from its gap. */
const NUDGE = 8;

/**
 * @param {NonNullable<import("./kinds.js").Challenge["slider"]>} puzzle
 * @param {(answer: import("./kinds.js").Answer) => Promise<void>} submit
 * @returns {import("./kinds.js").View}
 */
export function sliderView(puzzle, submit) {
  const last = puzzle.width - puzzle.pieceWidth;
  const percent = (/** @type {number} */ length, /** @type {number} */ whole) => `${(length / whole) * 100}%`;
  const piece = h("img", { class: "challenge-piece", src: puzzle.piece, alt: "", draggable: "false" });
  piece.style.width = percent(puzzle.pieceWidth, puzzle.width);
  piece.style.top = percent(puzzle.top, puzzle.height);
  const label = t("把拼图拖到缺口", "Move the piece to its gap");
  const hint = h("p", { class: "quiet small", id: "challenge-hint" }, hintText());
  const handle = h("input", { type: "range", class: "challenge-handle", min: 0, max: last, step: 1, value: 0, "aria-label": label, "aria-describedby": hint.id });
  const go = h("button", { type: "submit", class: "button main" }, t("提交", "Submit"));
  const root = h("form", { class: "stack", onsubmit: send },
    hint,
    h("div", { class: "challenge-puzzle" },
      h("img", { src: puzzle.background, width: puzzle.width, height: puzzle.height, alt: t("有缺口的图片", "A picture with a gap") }), piece),
    handle, h("div", { class: "buttons" }, button(t("左移", "Left"), () => nudge(-NUDGE)), button(t("右移", "Right"), () => nudge(NUDGE)), go));
  /** Milliseconds since the first press, pixels to the right, pixels down. @type {number[][]} */
  let track = [];
  let pressedAt = 0;
  let pressedY = 0;
  let down = 0;

  // A press beside the handle would make the piece jump.
  handle.addEventListener("mousedown", (event) => isBeside(event.clientX) && event.preventDefault());
  handle.addEventListener("touchstart", (event) => isBeside(event.touches[0].clientX) && event.preventDefault(), { passive: false });
  handle.addEventListener("pointerdown", (event) => (pressedY = event.clientY - down));
  handle.addEventListener("pointermove", (event) => {
    if (event.buttons > 0) down = Math.round(event.clientY - pressedY);
  });
  handle.addEventListener("input", moved);
  handle.addEventListener("pointerup", sample);
  handle.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      root.requestSubmit();
    }
  });
  return { root, start: () => handle.focus() };

  function moved() {
    piece.style.left = percent(Number(handle.value), puzzle.width);
    sample();
  }

  /** @param {number} by pixels; the range keeps the piece inside */
  function nudge(by) {
    handle.value = String(Number(handle.value) + by);
    moved();
  }

  /** @param {number} x */
  function isBeside(x) {
    const { left, width, height } = handle.getBoundingClientRect();
    // The handle is as wide as it is high.
    const centre = left + height / 2 + (Number(handle.value) / last) * (width - height);
    return Math.abs(x - centre) > REACH;
  }

  function sample() {
    const now = performance.now();
    if (track.length === 0) pressedAt = now;
    // Every other sample of a long way.
    if (track.length >= SAMPLES_MAX - 1) track = track.filter((_, number) => number % 2 === 0);
    track.push([Math.round(now - pressedAt), Number(handle.value), down]);
  }

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    if (go.getAttribute("aria-busy") === "true") return;
    go.setAttribute("aria-busy", "true");
    sample();
    await submit({ left: Number(handle.value), track });
    go.removeAttribute("aria-busy");
  }
}

/** A kiosk has no keys. */
function hintText() {
  return isKiosk ? t("拖动滑块，或者用按钮移动，对准后提交。", "Drag the handle, or use the buttons; then submit.")
    : t("拖动滑块，或者用按钮、左右方向键移动，对准后提交。", "Drag the handle, or use the buttons or the left and right arrow keys; then submit.");
}
