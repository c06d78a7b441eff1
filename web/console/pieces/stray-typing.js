// What is typed while no field has the focus: a scanner's code, mostly.

/**
 * Told before such a key does anything: a field that gets the focus now receives it.
 * @param {AbortSignal} signal
 * @param {() => void} what
 */
export function onStrayTyping(signal, what) {
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, altKey, metaKey, target } = event;
    const isPrinted = key.length === 1 && key !== " " && !ctrlKey && !altKey && !metaKey;
    if (!isPrinted || isField(target) || document.querySelector("dialog[open]")) return;
    what();
  }, { signal });
}

/** @param {EventTarget | null} target */
function isField(target) {
  return target instanceof HTMLElement && (target.matches("input, select, textarea") || target.isContentEditable);
}
