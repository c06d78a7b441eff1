// Keyboard focus across re-rendering.

/**
 * Keeps the focus in an element whose contents are replaced. Buttons and links are identified by their index.
 * @param {HTMLElement} root
 * @returns {(replace: () => void) => void} runs a replacement and restores the focus by index
 */
export function keepFocus(root) {
  const focusable = () => /** @type {HTMLElement[]} */ ([...root.querySelectorAll("a[href], button")]);
  let focusedIndex = -1;
  root.addEventListener("focusin", ({ target }) => (focusedIndex = focusable().indexOf(/** @type {HTMLElement} */ (target))));

  function restoreFocus() {
    const all = focusable();
    if (focusedIndex >= 0) all[Math.min(focusedIndex, all.length - 1)]?.focus({ preventScroll: true });
  }

  return (replace) => {
    const focused = document.activeElement;
    const hadFocus = root.contains(focused);
    const dialog = document.querySelector("dialog[open]");
    replace();
    if (hadFocus && !focused?.isConnected) restoreFocus();
    // A closing dialog returns the focus to its opener, which may be gone.
    dialog?.addEventListener("close", () => document.activeElement === document.body && restoreFocus(), { once: true });
  };
}
