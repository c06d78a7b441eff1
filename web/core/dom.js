// Creation of elements in one call. All text is set as text content, never as HTML.

/**
 * @typedef {Node | string | number | null | undefined | false | ""} Leaf `null`, `false` and the empty string
 * render nothing
 */
/** @typedef {Leaf | (Leaf | Leaf[])[]} Child allowed content of an element */
/**
 * @typedef {Record<string, unknown>} Attributes functions named `on…` become listeners; `true` sets an empty
 * attribute; `false`, `null` and `undefined` set none
 */

/**
 * Creates an HTML element.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  setAttributes(element, attributes ?? {});
  element.append(...toNodes(children));
  return element;
}

/**
 * Creates an SVG element.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  setAttributes(element, attributes ?? {});
  element.append(...toNodes(children));
  return element;
}

/**
 * Replaces the children of an element.
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...toNodes(children));
}

/**
 * Runs a function periodically until `signal` aborts. Pauses while the page is hidden and runs at once when
 * visible again.
 * @param {number} ms
 * @param {AbortSignal} signal
 * @param {() => void} run
 */
export function repeatWhileVisible(ms, signal, run) {
  const timer = setInterval(() => document.hidden || run(), ms);
  signal.addEventListener("abort", () => clearInterval(timer));
  onVisible(signal, run);
}

/**
 * Runs a function whenever the page becomes visible again: the device may have slept meanwhile.
 * @param {AbortSignal} signal
 * @param {() => void} run
 */
export function onVisible(signal, run) {
  document.addEventListener("visibilitychange", () => document.hidden || run(), { signal });
}

/**
 * Returns a function that creates signals for repeated rendering. Each new signal aborts the previous one;
 * `outer` aborts all.
 * @param {AbortSignal} outer
 * @returns {() => AbortSignal}
 */
export function signalSequence(outer) {
  let last = new AbortController();
  outer.addEventListener("abort", () => last.abort());
  return () => {
    last.abort();
    last = new AbortController();
    if (outer.aborted) last.abort();
    return last.signal;
  };
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function toNodes(children) {
  return /** @type {Leaf[]} */ (children.flat(2)).flatMap((child) => {
    if (child === null || child === undefined || child === false || child === "") return [];
    return [child instanceof Node ? child : String(child)];
  });
}
