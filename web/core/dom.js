// Elements, made in one call. Every text is set as text, never as HTML.

/** @typedef {Node | string | number | null | undefined | false | ""} One `null`, `false` and an empty text stand for nothing */
/** @typedef {One | (One | One[])[]} Child what may stand in an element */
/** @typedef {Record<string, unknown>} Attributes `onclick: f` listens; `true` is an attribute without a value; `false`, `null` and `undefined` are none */

/**
 * An element.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, attributes, ...children) {
  const made = document.createElement(name);
  set(made, attributes ?? {});
  made.append(...nodes(children));
  return made;
}

/**
 * An element of a drawing.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  set(made, attributes ?? {});
  made.append(...nodes(children));
  return made;
}

/**
 * Puts these in the place of what an element holds.
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
}

/**
 * Does something now and again, until `signal`; not while nobody looks at the page, but at once when somebody looks again.
 * @param {number} ms
 * @param {AbortSignal} signal
 * @param {() => void} what
 */
export function every(ms, signal, what) {
  const timer = setInterval(() => document.hidden || what(), ms);
  signal.addEventListener("abort", () => clearInterval(timer));
  whenSeenAgain(signal, what);
}

/**
 * Does something whenever somebody looks at the page again: meanwhile things went on, and the device may have slept.
 * @param {AbortSignal} signal
 * @param {() => void} what
 */
export function whenSeenAgain(signal, what) {
  document.addEventListener("visibilitychange", () => document.hidden || what(), { signal });
}

/**
 * Signals for what is drawn again and again: each ends the one before, and `outer` ends them all.
 * @param {AbortSignal} outer
 * @returns {() => AbortSignal}
 */
export function successive(outer) {
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
function set(element, attributes) {
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
function nodes(children) {
  return /** @type {One[]} */ (children.flat(2)).flatMap((child) => {
    if (child === null || child === undefined || child === false || child === "") return [];
    return [child instanceof Node ? child : String(child)];
  });
}
