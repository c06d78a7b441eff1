// Who goes by key stays where they are when what they pressed is drawn anew.

/**
 * For an element whose contents are replaced: its buttons and links are told apart by their place.
 * @param {HTMLElement} root
 * @returns {(replace: () => void) => void} replaces them, and gives the focus to what then has the place of what had it
 */
export function samePlace(root) {
  const pressable = () => /** @type {HTMLElement[]} */ ([...root.querySelectorAll("a[href], button")]);
  let place = -1;
  root.addEventListener("focusin", ({ target }) => (place = pressable().indexOf(/** @type {HTMLElement} */ (target))));

  function takeUp() {
    const all = pressable();
    if (place >= 0) all[Math.min(place, all.length - 1)]?.focus({ preventScroll: true });
  }

  return (replace) => {
    const focused = document.activeElement;
    const wasHere = root.contains(focused);
    const dialog = document.querySelector("dialog[open]");
    replace();
    if (wasHere && !focused?.isConnected) takeUp();
    // What opened the dialog would have the focus again once it closes, if it were still there.
    dialog?.addEventListener("close", () => document.activeElement === document.body && takeUp(), { once: true });
  };
}
