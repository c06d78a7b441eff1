// A combobox that searches shops by name.

import { get } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { t } from "../core/language.js";
import { field } from "./field.js";
import { showError } from "./toast.js";

/** @typedef {{id: number, name: string, area?: string, address?: string}} PickedShop */

/** Pause in typing before the search starts. */
const SEARCH_DELAY_MS = 200;
let pickerCount = 0;

/**
 * @param {string} label
 * @param {AbortSignal} signal
 * @param {{chosen?: PickedShop, choose?: (shop: PickedShop | undefined) => void, required?: boolean}} [options]
 * @returns {import("./field.js").Field<HTMLInputElement> & {value: () => PickedShop | undefined, unclear: () => string}} `errorText`:
 * error for a text without a selected shop
 */
export function shopPicker(label, signal, { chosen, choose: onChoose = () => {}, required = false } = {}) {
  const id = `shops-${(pickerCount += 1)}`;
  const list = h("ul", { class: "options", role: "listbox", id, "aria-label": label, hidden: true });
  const base = field(label, "input", {
    type: "search", role: "combobox", autocomplete: "off", "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list",
    value: chosen?.name, required, placeholder: t("店名里的几个字", "Search by name"),
    oninput: onInput, onkeydown: onKeyDown, onfocus: () => !chosen && search(), onblur: close,
  });
  const { input } = base;
  input.after(list);
  /** @type {PickedShop[]} */
  let results = [];
  let highlighted = -1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return { ...base, value: () => chosen, unclear: errorText };

  function errorText() {
    return chosen || input.value.trim() === "" ? "" : t("请从列表里选一家店", "Choose a shop from the list");
  }

  function onInput() {
    setChosen(undefined);
    base.wrong("");
    // Results of the previous text.
    results = [];
    clearTimeout(timer);
    timer = setTimeout(search, SEARCH_DELAY_MS);
  }

  async function search() {
    const name = input.value.trim();
    try {
      const shops = await get("/shop/of/name", { query: { name, current: 1 }, signal });
      // The text changed meanwhile.
      if (name === input.value.trim() && input === document.activeElement) show(shops);
    } catch (error) {
      if (!signal.aborted) showError(error);
    }
  }

  /** @param {PickedShop[]} shops */
  function show(shops) {
    results = shops;
    highlighted = -1;
    fill(list, shops.map((shop, index) => h("li", {
      role: "option", id: `${id}-${index}`, "aria-selected": "false",
      // Runs before blur, which closes the list.
      onpointerdown: (/** @type {Event} */ event) => {
        event.preventDefault();
        select(shop);
      },
    }, h("strong", null, shop.name), h("span", { class: "quiet small" }, shop.area, " ", shop.address))),
    shops.length === 0 && h("li", { class: "quiet", role: "option", "aria-disabled": "true" }, t("没有找到店铺", "No shops found")));
    setOpen(true);
  }

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && results.length > 0) {
      event.preventDefault();
      if (list.hidden) setOpen(true);
      highlight((highlighted + step + results.length) % results.length);
    } else if (event.key === "Enter") {
      // Enter selects a shop instead of submitting the surrounding form.
      event.preventDefault();
      const picked = results[highlighted] ?? (results.length === 1 ? results[0] : undefined);
      if (!list.hidden && picked) select(picked);
    } else if (event.key === "Escape" && !list.hidden) {
      // Escape closes the list, not the surrounding dialog.
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  }

  /** @param {number} index */
  function highlight(index) {
    list.children[highlighted]?.setAttribute("aria-selected", "false");
    highlighted = index;
    list.children[highlighted]?.setAttribute("aria-selected", "true");
    list.children[highlighted]?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", `${id}-${highlighted}`);
  }

  /** @param {PickedShop} shop */
  function select(shop) {
    input.value = shop.name;
    setChosen(shop);
    base.wrong("");
    close();
  }

  /** @param {PickedShop | undefined} shop */
  function setChosen(shop) {
    if (shop === chosen) return;
    chosen = shop;
    onChoose(shop);
  }

  /** @param {boolean} isOpen */
  function setOpen(isOpen) {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) input.removeAttribute("aria-activedescendant");
  }

  function close() {
    setOpen(false);
  }
}
