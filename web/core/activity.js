// Input by whoever uses this device, for sessions that end after an idle time.

const EVENTS = ["pointerdown", "pointerup", "pointercancel", "keydown", "wheel", "touchmove"];

let last = performance.now();
let isDown = false;

/**
 * Notes input from now on.
 * @param {() => void} [onInput] called for each input
 */
export function watchActivity(onInput) {
  for (const name of EVENTS) addEventListener(name, note, { capture: true, passive: true });

  /** @param {Event} event */
  function note({ type }) {
    if (type.startsWith("pointer")) isDown = type === "pointerdown";
    noteActivity();
    onInput?.();
  }
}

/** Counts as input: somebody is there. */
export function noteActivity() {
  last = performance.now();
}

/** Returns the time since the last input, in milliseconds. */
export function idleMs() {
  return performance.now() - last;
}

/** Whether the screen is being touched, or a button of the mouse is down. */
export function isPressed() {
  return isDown;
}
