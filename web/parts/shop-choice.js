// A shop, found by its name as one types.

import { get } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { both } from "../core/language.js";
import { field } from "./field.js";
import { tell } from "./toast.js";

/** @typedef {{id: number, name: string, area?: string, address?: string}} ChosenShop */

/** So long nobody types before the mall is asked. */
const PAUSE_MS = 200;
let count = 0;

/**
 * @param {string} label
 * @param {AbortSignal} signal
 * @param {{chosen?: ChosenShop, choose?: (shop: ChosenShop | undefined) => void, required?: boolean}} [how]
 * @returns {import("./field.js").Field<HTMLInputElement> & {value: () => ChosenShop | undefined, unclear: () => string}} `unclear`: what
 * is wrong with a text that names no shop
 */
export function shopChoice(label, signal, { chosen, choose = () => {}, required = false } = {}) {
  const id = `shops-${(count += 1)}`;
  const list = h("ul", { class: "options", role: "listbox", id, "aria-label": label, hidden: true });
  const made = field(label, "input", {
    type: "search", role: "combobox", autocomplete: "off", "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list",
    value: chosen?.name, required, placeholder: both("店名里的几个字", "Part of its name"),
    oninput: typed, onkeydown: pressed, onfocus: () => !chosen && find(), onblur: close,
  });
  const { input } = made;
  input.after(list);
  /** @type {ChosenShop[]} */
  let found = [];
  let marked = -1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return { ...made, value: () => chosen, unclear };

  function unclear() {
    return chosen || input.value.trim() === "" ? "" : both("请从列表里选一家店", "Please pick a shop from the list");
  }

  function typed() {
    set(undefined);
    made.wrong("");
    // They are those of another text.
    found = [];
    clearTimeout(timer);
    timer = setTimeout(find, PAUSE_MS);
  }

  async function find() {
    const name = input.value.trim();
    try {
      const shops = await get("/shop/of/name", { query: { name, current: 1 }, signal });
      // It was typed on meanwhile.
      if (name === input.value.trim() && input === document.activeElement) show(shops);
    } catch (error) {
      if (!signal.aborted) tell(error);
    }
  }

  /** @param {ChosenShop[]} shops */
  function show(shops) {
    found = shops;
    marked = -1;
    fill(list, shops.map((shop, index) => h("li", {
      role: "option", id: `${id}-${index}`, "aria-selected": "false",
      // Before the field loses the focus, and closes the list.
      onpointerdown: (/** @type {Event} */ event) => {
        event.preventDefault();
        pick(shop);
      },
    }, h("strong", null, shop.name), h("span", { class: "quiet small" }, shop.area, " ", shop.address))),
    shops.length === 0 && h("li", { class: "quiet", role: "option", "aria-disabled": "true" }, both("没有这样的店", "No such shop")));
    open(true);
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length > 0) {
      event.preventDefault();
      if (list.hidden) open(true);
      mark((marked + step + found.length) % found.length);
    } else if (event.key === "Enter") {
      // A shop is looked for, and the form that it stands in is not sent.
      event.preventDefault();
      const wanted = found[marked] ?? (found.length === 1 ? found[0] : undefined);
      if (!list.hidden && wanted) pick(wanted);
    } else if (event.key === "Escape" && !list.hidden) {
      // The list alone, and not the dialog that it may stand in.
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  }

  /** @param {number} index */
  function mark(index) {
    list.children[marked]?.setAttribute("aria-selected", "false");
    marked = index;
    list.children[marked]?.setAttribute("aria-selected", "true");
    list.children[marked]?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", `${id}-${marked}`);
  }

  /** @param {ChosenShop} shop */
  function pick(shop) {
    input.value = shop.name;
    set(shop);
    made.wrong("");
    close();
  }

  /** @param {ChosenShop | undefined} shop */
  function set(shop) {
    if (shop === chosen) return;
    chosen = shop;
    choose(shop);
  }

  /** @param {boolean} isOpen */
  function open(isOpen) {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) input.removeAttribute("aria-activedescendant");
  }

  function close() {
    open(false);
  }
}
