// Typing while no field has the focus, mostly by barcode scanners.

/**
 * Called before the key takes effect: a field focused by the listener receives the key.
 * @param {AbortSignal} signal
 * @param {() => void} listener
 */
export function onUnfocusedTyping(signal, listener) {
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, altKey, metaKey, target } = event;
    const isPrinted = key.length === 1 && key !== " " && !ctrlKey && !altKey && !metaKey;
    if (!isPrinted || isField(target) || document.querySelector("dialog[open]")) return;
    listener();
  }, { signal });
}

/** @param {EventTarget | null} target */
function isField(target) {
  return target instanceof HTMLElement && (target.matches("input, select, textarea") || target.isContentEditable);
}
