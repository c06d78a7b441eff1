// Settings: language, colour scheme, place, password, phone number, sessions, and the user's own data.

import { get, hasToken } from "../../core/api.js";
import { staleWhileRevalidate } from "../../core/cache.js";
import { isDemo } from "../../core/demo.js";
import { h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t, language, setLanguage } from "../../core/language.js";
import { setColorScheme, colorScheme } from "../../core/color-scheme.js";
import { choice } from "../../parts/choice.js";
import { icon } from "../../parts/icons.js";
import { place } from "../place.js";
import { ownData } from "./own-data.js";

/** @param {AbortSignal} signal */
export function settings(signal) {
  const current = place();
  const consoleLink = link("/console", t("控制台", "Console"), "");
  consoleLink.hidden = true;
  // The link is shown to operators; errors keep it hidden.
  const show = async (/** @type {string} */ role) => {
    consoleLink.hidden = role !== "operator" || !(await isConsoleHere(signal));
  };
  if (hasToken() && !isKiosk) staleWhileRevalidate("role", () => get("/user/role", { signal }), (role) => show(role).catch(() => {})).catch(() => {});
  // A mall never serves `mallbox learn`; the manual says how to start it.
  const ladderLink = link("/mall/manual/ladder", t("谁在超卖？", "Who oversells?"), "");
  ladderLink.hidden = true;
  if (!isKiosk) void isDemo().then((isInDemo) => (ladderLink.hidden = !isInDemo));
  return h("section", { class: "card settings", "aria-label": t("设置", "Settings") },
    h("h2", { class: "unseen" }, t("设置", "Settings")),
    h("div", { class: "setting" }, h("span", null, t("语言", "Language")), choice(t("语言", "Language"),
      [{ value: "zh", text: "中文", lang: "zh-CN" }, { value: "en", text: "English", lang: "en" }], language(), (chosen) => setLanguage(/** @type {"zh" | "en"} */ (chosen)))),
    h("div", { class: "setting" }, h("span", null, t("外观", "Appearance")), choice(t("外观", "Appearance"),
      [{ value: "system", text: t("跟随系统", "System") }, { value: "light", text: t("浅色", "Light") }, { value: "dark", text: t("深色", "Dark") }],
      colorScheme(), (chosen) => setColorScheme(/** @type {import("../../core/color-scheme.js").ColorScheme} */ (chosen)))),
    link("#/place", t("位置", "Place"), current ? current.name || t("我的位置", "My location") : t("未选择", "Not set")),
    hasToken() && !isKiosk && link("#/me/password", t("密码", "Password"), ""),
    hasToken() && !isKiosk && link("#/me/phone", t("手机号", "Phone number"), ""),
    hasToken() && !isKiosk && link("#/me/sessions", t("登录设备", "Logged-in devices"), ""),
    hasToken() && !isKiosk && ownData(signal),
    consoleLink, ladderLink);
}

/**
 * Returns whether the console is at this address: operators may have an address of their own.
 * @param {AbortSignal} signal
 */
async function isConsoleHere(signal) {
  return (await fetch("/console", { method: "HEAD", signal })).ok;
}

/**
 * @param {string} to
 * @param {string} text
 * @param {string} value
 */
function link(to, text, value) {
  return h("a", { class: "setting", href: to }, h("span", { class: "grow" }, text), h("span", { class: "quiet cut" }, value), icon("forward"));
}
