// Daily sign-in: calendar, streak and make-up days.

import { Unreachable, call, get } from "../../core/api.js";
import { setCached, invalidate, staleWhileRevalidate } from "../../core/cache.js";
import { fill, h, onVisible } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { screenHeader } from "../../parts/screen-header.js";
import { whileBusy, iconButton } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { icon } from "../../parts/icons.js";
import { keepFocus } from "../../parts/keep-focus.js";
import { confirmAction } from "../../parts/sheet.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast, showError } from "../../parts/toast.js";
import { requireLogin, redirectIfUnauthorized } from "../login-guard.js";
import { monthGrid, addMonths, monthName } from "../people/month-grid.js";

/** @typedef {import("../people/month-grid.js").Calendar} Calendar */

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title, restoreScroll }) {
  title(t("每日签到", "Daily check-in"));
  if (!requireLogin()) return;
  const top = h("section", { class: "card pad streak", "aria-live": "polite" }, skeletons(1, "8.75rem"));
  const calendar = h("section", { class: "card pad stack", tabindex: -1 }, skeletons(1, "24rem"));
  root.append(h("div", { class: "sign-in stack" }, screenHeader(t("每日签到", "Daily check-in"), { home: "/me" }), top, calendar));
  const redraw = keepFocus(top);
  /** The shown month; initially the current one. */
  let month = "";
  /** @type {Calendar | undefined} the current month's data */
  let present;
  // A new day may have begun.
  onVisible(signal, () => month === "" && show());
  await show();

  async function show() {
    try {
      const wanted = month;
      await staleWhileRevalidate(`sign-in ${wanted}`, () => get("/user/sign/calendar", { query: { month: wanted || undefined }, signal }),
        (/** @type {Calendar} */ calendarData) => wanted === month && render(calendarData));
    } catch (error) {
      if (!signal.aborted && !redirectIfUnauthorized(error)) fill(calendar, errorState(error, show));
    }
  }

  /** @param {Calendar} calendarData */
  function render(calendarData) {
    if (calendarData.today.startsWith(calendarData.month)) {
      present = calendarData;
      redraw(() => fill(top, streakCard(calendarData, signIn)));
    }
    const isPresent = calendarData.today.startsWith(calendarData.month);
    const later = iconButton("forward", t("下个月", "Next month"), () => showMonth(calendarData.month, 1));
    later.disabled = isPresent;
    const had = calendar.contains(document.activeElement) ? document.activeElement?.getAttribute("aria-label") : undefined;
    fill(calendar,
      h("div", { class: "row apart" },
        iconButton("back", t("上个月", "Previous month"), () => showMonth(calendarData.month, -1)),
        h("h2", { "aria-live": "polite" }, monthName(calendarData.month)), later),
      monthGrid(calendarData, makeUp),
      h("p", { class: "quiet small" }, isPresent
        ? t(`点一下漏签的日子即可补签，本月还可以补 ${calendarData.makeUpsLeft} 次。`, `Press a missed day to make it up; make-ups left this month: ${calendarData.makeUpsLeft}.`)
        : t("只有本月的漏签可以补。", "Only days of the current month can be made up.")));
    // The pressed button was replaced.
    const again = had && calendar.querySelector(`[aria-label="${CSS.escape(had)}"]:not(:disabled)`);
    if (again instanceof HTMLElement) again.focus();
    else if (had) calendar.focus({ preventScroll: true });
    restoreScroll();
  }

  /**
   * @param {string} from
   * @param {number} by
   */
  async function showMonth(from, by) {
    month = addMonths(from, by);
    if (present?.month === month) month = "";
    await show();
  }

  /** @param {HTMLButtonElement} button */
  function signIn(button) {
    whileBusy(button, async () => {
      // Signing in twice a day is no error, so a lost response is retried.
      try {
        await call("POST", "/user/sign").catch((error) => (error instanceof Unreachable ? call("POST", "/user/sign") : Promise.reject(error)));
        await refresh();
      } catch (error) {
        if (!redirectIfUnauthorized(error)) throw error;
        return;
      }
      top.classList.add("just-signed");
      showToast(t(`签到成功，已连续 ${present?.streak ?? 1} 天`, `Checked in: ${present?.streak ?? 1} in a row`));
    });
  }

  /** @param {string} day */
  async function makeUp(day) {
    const text = t(`${day} 将计为已签到，并使用本月的一次补签。`, `${day} will count as checked in and use one of this month’s make-ups.`);
    if (!(await confirmAction(t("补签这一天？", "Make up this day?"), text, t("补签", "Make up")))) return;
    try {
      await call("POST", "/user/sign/make-up", { query: { date: day } });
      showToast(t("补签成功", "Day made up"));
    } catch (error) {
      if (redirectIfUnauthorized(error)) return;
      showError(error);
    }
    await refresh();
  }

  async function refresh() {
    invalidate("sign-in");
    const calendarData = await get("/user/sign/calendar", { signal });
    setCached("sign-in ", calendarData);
    month = "";
    render(calendarData);
  }
}

/**
 * @param {Calendar} one
 * @param {(button: HTMLButtonElement) => void} signIn
 */
function streakCard({ today, signed, streak: days, longest }, signIn) {
  const isSigned = signed.includes(Number(today.slice(8)));
  const press = h("button", { type: "button", class: "button main sign-button", disabled: isSigned, onclick: () => signIn(press) },
    icon(isSigned ? "check" : "calendar"), h("span", null, isSigned ? t("今天已签到", "Checked in today") : t("今天签到", "Check in today")));
  return [
    h("div", { class: "streak-days" }, h("strong", { class: "number" }, days), h("span", null, t("天连续签到", days === 1 ? "day in a row" : "days in a row"))),
    h("p", { class: "quiet small" }, t(`最长连续 ${longest} 天`, `Longest: ${longest} ${longest === 1 ? "day" : "days"}`)),
    press,
  ];
}
