// The manual's pages: the reader's language, and a search over all pages.

import { language, setLanguage } from "../core/language.js";
import "../core/scheme.js";
import { search } from "./search.js";

const shown = document.body.dataset.language === "zh" ? "zh" : "en";
const asked = new URLSearchParams(location.search).get("lang");

if (shown === language()) {
  begin();
} else {
  // The mall chose by the browser's headers; the reader has chosen otherwise on another page.
  location.replace(addressIn(language()));
}

function begin() {
  // A language in the address stays in the address from page to page.
  if (asked) {
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("nav a, article a, .manual-name"))) {
      const to = new URL(link.href);
      if (to.origin !== location.origin || !to.pathname.startsWith(folder()) || to.search) continue;
      to.search = `?lang=${shown}`;
      link.href = to.href;
    }
  }
  document.getElementById("language")?.addEventListener("click", (event) => {
    event.preventDefault();
    const other = shown === "zh" ? "en" : "zh";
    setLanguage(other);
    location.assign(addressIn(other));
  });
  search();
}

/** @param {string} wanted */
function addressIn(wanted) {
  const to = new URL(location.href);
  to.search = `?lang=${wanted}`;
  return to.href;
}

function folder() {
  return new URL("./", location.href).pathname;
}
