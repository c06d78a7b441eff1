// A check by an external service: hCaptcha, Turnstile or GeeTest. The service's script is loaded when a check
// is shown, and at no other time.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";

/** Time for the script to load, in milliseconds. */
const LOAD_MAX_MS = 6_000;
/** Name of the global function that scripts of hCaptcha and Turnstile call once they are ready. */
const READY = "mallboxChallengeReady";
/** Narrower places take the small widget of hCaptcha, in pixels. */
const HCAPTCHA_WIDTH = 303;

/**
 * @typedef {object} Mounting
 * @property {HTMLElement} place
 * @property {string} siteKey
 * @property {(answer: import("./kinds.js").Answer) => void} pass
 * @property {() => void} fail
 */

/** Scripts that are loaded, or being loaded. @type {Map<string, Promise<void>>} */
const scripts = new Map();

/**
 * @param {NonNullable<import("./kinds.js").Challenge["service"]>} service
 * @param {(answer: import("./kinds.js").Answer) => Promise<void>} submit
 * @param {() => void} giveUp called if the check cannot be shown
 * @param {AbortSignal} signal
 * @returns {import("./kinds.js").View}
 */
export function serviceView({ name, siteKey, scriptUrl }, submit, giveUp, signal) {
  const text = h("p", { role: "status", tabindex: "-1" }, t("正在加载人机验证…", "Loading the CAPTCHA…"));
  const place = h("div", { class: "challenge-service" });
  return { root: h("div", { class: "stack" }, text, place), start };

  async function start() {
    // The button that chose this kind is gone.
    text.focus();
    let isOver = false;
    const once = (/** @type {() => void} */ then) => {
      if (isOver || signal.aborted) return;
      isOver = true;
      then();
    };
    const fail = () => once(giveUp);
    try {
      await loadScript(name, scriptUrl);
      if (signal.aborted) return;
      const unmount = mount(name, { place, siteKey, pass: (answer) => once(() => void submit(answer)), fail });
      signal.addEventListener("abort", unmount);
      text.textContent = t("请完成下面的验证。", "Please take the check below.");
    } catch {
      fail();
    }
  }
}

/**
 * Loads a script once. Fails after some seconds, and tries again at the next call then.
 * @param {string} name
 * @param {string} url
 * @returns {Promise<void>}
 */
function loadScript(name, url) {
  const known = scripts.get(url);
  if (known) return known;
  /** @type {Promise<void>} */
  const loading = new Promise((resolve, reject) => {
    const address = new URL(url);
    const script = document.createElement("script");
    if (name === "geetest") {
      script.addEventListener("load", () => resolve());
    } else {
      Object.assign(window, { [READY]: () => resolve() });
      address.searchParams.set("render", "explicit");
      address.searchParams.set("onload", READY);
    }
    script.addEventListener("error", reject);
    setTimeout(reject, LOAD_MAX_MS);
    script.src = address.href;
    script.async = true;
    document.head.append(script);
  });
  scripts.set(url, loading);
  loading.catch(() => scripts.delete(url));
  return loading;
}

/**
 * Shows the widget. Returns a function that removes the widget.
 * @param {string} name
 * @param {Mounting} mounting
 * @returns {() => void}
 */
function mount(name, mounting) {
  switch (name) {
    case "hcaptcha": return mountHCaptcha(mounting);
    case "turnstile": return mountTurnstile(mounting);
    case "geetest": return mountGeeTest(mounting);
    default: throw new Error(`unknown challenge service ${name}`);
  }
}

/** @param {Mounting} mounting */
function mountHCaptcha({ place, siteKey, pass, fail }) {
  const { hcaptcha } = /** @type {any} */ (window);
  const id = hcaptcha.render(place, {
    sitekey: siteKey,
    size: place.clientWidth < HCAPTCHA_WIDTH ? "compact" : "normal",
    hl: t("zh-CN", "en"),
    callback: (/** @type {string} */ response) => pass({ response }),
    "error-callback": fail,
  });
  return () => hcaptcha.remove(id);
}

/** @param {Mounting} mounting */
function mountTurnstile({ place, siteKey, pass, fail }) {
  const { turnstile } = /** @type {any} */ (window);
  const id = turnstile.render(place, {
    sitekey: siteKey,
    size: "flexible",
    language: t("zh-cn", "en"),
    callback: (/** @type {string} */ response) => pass({ response }),
    // The error is handled: the script need not report it.
    "error-callback": () => {
      fail();
      return true;
    },
  });
  return () => turnstile.remove(id);
}

/** @param {Mounting} mounting */
function mountGeeTest({ place, siteKey, pass, fail }) {
  const { initGeetest4 } = /** @type {any} */ (window);
  /** @type {{destroy: () => void} | undefined} */
  let shown;
  let isRemoved = false;
  const options = { captchaId: siteKey, product: "float", language: t("zho", "eng"), nativeButton: { width: "100%" }, onError: fail };
  initGeetest4(options, (/** @type {any} */ captcha) => {
    if (isRemoved) return;
    shown = captcha;
    captcha.appendTo(place);
    captcha.onSuccess(() => {
      const geetest = captcha.getValidate();
      if (geetest) pass({ geetest });
    });
    captcha.onError(fail);
  });
  return () => {
    isRemoved = true;
    shown?.destroy();
  };
}
