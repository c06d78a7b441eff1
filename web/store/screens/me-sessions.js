// The user's sessions: where the account is logged in, and the end of each.

import { call, get } from "../../core/api.js";
import { staleWhileRevalidate, revalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { go } from "../../core/router.js";
import { logOut } from "../../core/session.js";
import { button } from "../../parts/button.js";
import { chip } from "../../parts/chip.js";
import { dateTime } from "../../parts/date-time.js";
import { errorState } from "../../parts/empty-state.js";
import { keepFocus } from "../../parts/keep-focus.js";
import { screenHeader } from "../../parts/screen-header.js";
import { confirmAction } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { requireLogin, redirectIfUnauthorized } from "../login-guard.js";
import { logOutText } from "../people/log-out.js";

/**
 * @typedef {object} Session
 * @property {string} id
 * @property {boolean} current
 * @property {"code" | "password" | "other"} origin
 * @property {string} [createTime]
 * @property {string} [seenTime]
 * @property {string} [address]
 * @property {string} browser
 */

const CACHE_KEY = "sessions";

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title, restoreScroll }) {
  const name = t("登录设备", "Logged-in devices");
  title(name);
  if (!requireLogin()) return;
  const list = h("ul", { class: "card sessions", "aria-label": name }, h("li", null, skeletons(2, "4rem")));
  const everywhere = h("div", null);
  const contents = h("div", { class: "stack" }, list, everywhere);
  root.append(h("div", { class: "narrow stack" }, screenHeader(name, { home: "/me" }),
    h("p", { class: "quiet" }, t("不认识的设备请立即退出，并修改密码。", "End any session you don’t recognize, then change your password.")), contents));
  const redraw = keepFocus(contents);
  await refresh();

  /** @returns {Promise<Session[]>} */
  function load() {
    return get("/user/sessions", { signal });
  }

  async function refresh() {
    try {
      await staleWhileRevalidate(CACHE_KEY, load, render);
    } catch (error) {
      if (!signal.aborted && !redirectIfUnauthorized(error)) fill(contents, errorState(error, retry));
    }
  }

  async function retry() {
    fill(contents, list, everywhere);
    await refresh();
  }

  /** @param {Session[]} sessions */
  function render(sessions) {
    redraw(() => {
      fill(list, sessions.map((session) => row(session, end)));
      fill(everywhere, sessions.length > 1 && button(t("退出其他所有设备", "Log out everywhere else"), endOthers, { look: ["wide"], icon: "out" }));
    });
    restoreScroll();
  }

  /** @param {Session} session */
  async function end(session) {
    const text = session.current
      ? logOutText()
      : t("那台设备上的登录会立即结束。", "That device will be logged out at once.");
    if (!(await confirmAction(t("退出这个登录？", "End this session?"), text, t("退出", "Log out")))) return;
    if (session.current) {
      logOut();
      go("/", { replace: true });
      return;
    }
    await change(async () => {
      await call("DELETE", `/user/sessions/${session.id}`);
      return t("已退出", "Session ended");
    });
  }

  async function endOthers() {
    const text = t("除这台设备以外，其他登录都会立即结束。", "All devices except this one will be logged out at once.");
    if (!(await confirmAction(t("退出其他所有设备？", "Log out everywhere else?"), text, t("全部退出", "Log out all")))) return;
    await change(async () => {
      const ended = (await call("DELETE", "/user/sessions")).data;
      return t(`已退出 ${ended} 个登录`, `Sessions ended: ${ended}`);
    });
  }

  /** @param {() => Promise<string>} action returns the message of its success */
  async function change(action) {
    try {
      const message = await action();
      await revalidate(CACHE_KEY, load, render);
      showToast(message);
    } catch (error) {
      if (signal.aborted || redirectIfUnauthorized(error)) return;
      // Another device may have ended the session.
      await revalidate(CACHE_KEY, load, render).catch(() => {});
      throw error;
    }
  }
}

/**
 * @param {Session} session
 * @param {(session: Session) => unknown} end
 */
function row(session, end) {
  const device = session.browser || t("未知设备", "Unknown device");
  const leave = button(t("退出", "Log out"), () => end(session), { look: ["bare"] });
  leave.setAttribute("aria-label", t(`退出：${device}`, `Log out: ${device}`));
  return h("li", { class: "session" },
    h("div", { class: "grow" },
      h("div", { class: "row wrap" }, h("strong", null, device), session.current && chip(t("这台设备", "This device"))),
      facts(session)),
    leave);
}

/** @param {Session} session */
function facts({ createTime, seenTime, address, origin }) {
  const origins = { code: t("验证码登录", "Logged in by code"), password: t("密码登录", "Logged in by password"), other: "" };
  return h("dl", { class: "small quiet session-facts" },
    fact(t("登录时间", "Since"), createTime && dateTime(createTime)),
    fact(t("最近使用", "Last used"), seenTime && dateTime(seenTime)),
    fact(t("网络地址", "Address"), address),
    fact(t("方式", "How"), origins[origin]));
}

/**
 * @param {string} name
 * @param {import("../../core/dom.js").Child} value
 */
function fact(name, value) {
  return Boolean(value) && h("div", null, h("dt", null, name), h("dd", null, value));
}
