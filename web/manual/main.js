// The pages of the manual: language and search.

import { language, setLanguage } from "../core/language.js";
import "../core/color-scheme.js";
import { search } from "./search.js";

const shown = document.body.dataset.language === "zh" ? "zh" : "en";
const requestedLanguage = new URLSearchParams(location.search).get("lang");

if (shown === language()) {
  start();
} else {
  // The server chose by the browser's headers, but the user has chosen another language.
  location.replace(addressInLanguage(language()));
}

function start() {
  // A language in the address is kept on links.
  if (requestedLanguage) {
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
    location.assign(addressInLanguage(other));
  });
  search();
}

/** @param {string} target */
function addressInLanguage(target) {
  const to = new URL(location.href);
  to.search = `?lang=${target}`;
  return to.href;
}

function folder() {
  return new URL("./", location.href).pathname;
}
