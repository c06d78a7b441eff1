// Cash: the drawer of this device's till, other tills, and earlier Z reports.

import { Refusal, call, get } from "../../core/api.js";
import { fill, h, repeatWhileVisible, signalSequence } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { parseCents } from "../../core/money.js";
import { newRequestId } from "../../core/request-id.js";
import { button } from "../../parts/button.js";
import { emptyState, errorState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { icon } from "../../parts/icons.js";
import { keepFocus } from "../../parts/keep-focus.js";
import { formatYuan } from "../../parts/price.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { countDrawer } from "../pieces/cash-count.js";
import { moveList, openXReport, openZReport, sessionFacts, signedYuan } from "../pieces/cash-report.js";
import { askTill, currentTill, tillName } from "../pieces/cash-till.js";
import { form, formSheet } from "../pieces/form.js";
import { heading } from "../pieces/heading.js";
import { InDoubtError } from "../pieces/in-doubt-error.js";
import { printerLine } from "../pieces/printer.js";
import { isRedemptionInDoubt } from "../pieces/redemption.js";
import { table } from "../pieces/table.js";
import { timestamp } from "../pieces/timestamp.js";

/** @typedef {import("../pieces/cash-report.js").Session} Session */
/** @typedef {import("../pieces/cash-report.js").ZReport} ZReport */

const REFRESH_MS = 10_000;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, signal, title }) {
  title(t("收银", "Cash"));
  const drawer = h("div", { class: "stack" }, skeletons(1, "16rem"));
  const others = h("div", { class: "stack" });
  const reports = reportList(signal);
  const replaceKeepingFocus = keepFocus(drawer);
  const nextSignal = signalSequence(signal);
  /** What is on screen, to leave a form alone while nothing changed. */
  let shown = "";
  const till = h("p", { class: "row wrap" });
  root.append(heading(t("收银", "Cash"), till),
    h("div", { class: "cash-columns" }, h("div", { class: "stack" }, drawer, others, printerLine(signal)), reports.root));
  showTill();
  void refresh();
  repeatWhileVisible(REFRESH_MS, signal, refresh);

  function showTill() {
    fill(till, h("strong", null, tillName()), button(t("换收银台", "Another till"), () => askTill(() => {
      showTill();
      void refresh();
    })));
  }

  async function refresh() {
    const requestSignal = nextSignal();
    try {
      /** @type {Session[]} */
      const sessions = await get("/ops/cash", { signal: requestSignal });
      if (!requestSignal.aborted) show(sessions);
    } catch (error) {
      // A session on screen stays, and the next refresh may succeed.
      if (!requestSignal.aborted && !shown) replaceKeepingFocus(() => fill(drawer, errorState(error, refresh)));
    }
  }

  /** @param {Session[]} sessions */
  function show(sessions) {
    const now = JSON.stringify([currentTill(), sessions]);
    if (now === shown) return;
    shown = now;
    const own = sessions.find((session) => session.till === currentTill());
    replaceKeepingFocus(() => fill(drawer, own ? openDrawer(own) : closedDrawer()));
    const rest = sessions.filter((session) => session !== own);
    fill(others, rest.length > 0 && h("section", { class: "card pad stack", "aria-label": t("其他收银台", "Other tills") }, h("h2", null, t("其他收银台", "Other tills")),
      rest.map((session) => h("div", { class: "row wrap" }, h("strong", null, tillName(session.till)), h("span", { class: "grow number" }, formatYuan(session.expected)),
        button(t("X报表", "X report"), () => openXReport(session))))));
  }

  function closedDrawer() {
    const float = field(t("备用金（元）", "Float, in yuan"), "input", { inputmode: "decimal", required: true, autocomplete: "off", placeholder: "300" });
    const openForm = form([{ field: float, names: ["备用金", "float"] }], t("开班", "Open the drawer"), async () => {
      const cents = amountIn(float);
      if (cents === undefined) return false;
      await call("POST", "/ops/cash", { body: { till: currentTill(), float: cents } });
      showToast(t("已开班", "The drawer is open"));
      await refresh();
      return true;
    });
    return h("section", { class: "card pad stack", "aria-label": tillName() }, h("h2", null, t("未开班", "The drawer is closed")),
      h("p", { class: "quiet" }, t("点清钱箱里的备用金，填写后开班。第一次开班以后，收退现金都要先开班。",
        "Count the money in the drawer and enter the amount. Once a drawer has been opened, cash is only taken and returned at an open drawer.")), openForm);
  }

  /** @param {Session} session */
  function openDrawer(session) {
    return h("section", { class: "card pad stack", "aria-label": tillName() },
      h("div", { class: "row wrap" }, h("h2", { class: "grow" }, t("已开班", "The drawer is open")), h("span", { class: "quiet" }, t("开班 ", "since "), timestamp(session.openTime))),
      sessionFacts(session), moveList(session.moves),
      h("div", { class: "row wrap" },
        button(t("存入", "Pay in"), () => askMove(session, "in", refresh), { icon: "plus" }),
        button(t("支出", "Pay out"), () => askMove(session, "out", refresh), { icon: "out" }),
        button(t("X报表", "X report"), () => openXReport(session), { icon: "print" }),
        button(t("清点交班", "Count and close"), () => countDrawer(session, readOwn, onClosed), { icon: "check", look: ["main"] })));
  }

  /** @returns {Promise<Session | undefined>} */
  async function readOwn() {
    /** @type {Session[]} */
    const sessions = await get("/ops/cash", { signal });
    show(sessions);
    return sessions.find(({ till: name }) => name === currentTill());
  }

  /** @param {ZReport} report */
  function onClosed(report) {
    showToast(t(`已交班：Z报表 ${report.number}`, `Closed: Z report ${report.number}`));
    void refresh();
    void reports.reload();
    openZReport(report);
  }
}

/**
 * Asks for an amount and a reason, and pays cash in or out.
 * @param {Session} session
 * @param {"in" | "out"} kind
 * @param {() => Promise<void>} onDone
 */
function askMove(session, kind, onDone) {
  const isIn = kind === "in";
  const amount = field(t("金额（元）", "Amount, in yuan"), "input", { inputmode: "decimal", required: true, autocomplete: "off" });
  const reason = field(t("原因（写进审计日志）", "Reason, for the audit log"), "input", { maxlength: 200, required: true });
  const requestId = newRequestId();
  return formSheet(isIn ? t("存入现金", "Pay cash in") : t("支出现金", "Pay cash out"),
    [{ field: amount, names: ["金额", "amount"] }, { field: reason, names: ["原因", "reason"] }],
    isIn ? t("存入", "Pay in") : t("支出", "Pay out"), async () => {
      const cents = amountIn(amount);
      if (cents === undefined) return false;
      try {
        await call("POST", `/ops/cash/${session.id}/${kind}`, { body: { amount: cents, reason: reason.input.value, requestId } });
      } catch (error) {
        // Recorded before the fields were changed: the list behind the dialog shows the entry.
        if (error instanceof Refusal && error.code === "CASH_KEY_USED") await onDone();
        if (!isRedemptionInDoubt(error)) throw error;
        throw new InDoubtError(error, t("无法确认是否已记账。可以再按一次，不会重复记账。", "The result is unknown. Press again: nothing is recorded twice."));
      }
      showToast(isIn ? t("已存入", "Paid in") : t("已支出", "Paid out"));
      await onDone();
      return true;
    });
}

/**
 * Returns the cents of an amount; shows what is wrong otherwise.
 * @param {import("../../parts/field.js").Field<HTMLInputElement>} amount
 */
function amountIn(amount) {
  const cents = parseCents(amount.input.value);
  if (cents !== undefined && !Number.isNaN(cents)) return cents;
  amount.wrong(t("请填写金额，例如12.50", "Enter an amount, such as 12.50"));
  return undefined;
}

/** @param {AbortSignal} signal */
function reportList(signal) {
  const root = h("section", { class: "stack", "aria-label": t("Z报表", "Z reports") }, h("h2", null, t("Z报表", "Z reports")));
  const place = h("div", { class: "listing" }, skeletons(3, "2.75rem"));
  root.append(place);
  /** @type {ZReport[]} */
  let rows = [];
  /** Numbers of changed reports. @type {number[]} */
  let unreadable = [];
  /** @type {number | undefined} */
  let nextBefore;
  void reload();
  return { root, reload };

  async function reload() {
    [rows, unreadable, nextBefore] = [[], [], undefined];
    await more();
  }

  async function more() {
    try {
      /** @type {{reports: ZReport[], unreadable: number[], nextBefore?: number}} */
      const page = await get("/ops/cash/reports", { query: { before: nextBefore }, signal });
      if (signal.aborted) return;
      rows = [...rows, ...page.reports];
      unreadable = [...unreadable, ...page.unreadable];
      nextBefore = page.nextBefore;
      show();
    } catch (error) {
      if (!signal.aborted) fill(place, errorState(error, reload));
    }
  }

  function show() {
    if (rows.length === 0 && unreadable.length === 0) return fill(place, emptyState("list", t("还没有Z报表。", "No Z reports yet.")));
    const numbers = unreadable.join(t("、", ", "));
    const changed = unreadable.length > 0 && h("p", { class: "notice bad" }, icon("warn"), t(`与摘要不符的Z报表：${numbers}。请运行mallbox verify。`, `Z reports that do not match their digests: ${numbers}. Run mallbox verify.`));
    fill(place, changed, table(t("Z报表", "Z reports"), [
      { title: t("编号", "Number"), cell: ({ number }) => h("strong", null, String(number)) },
      { title: t("收银台", "Till"), cell: ({ till }) => till },
      { title: t("交班", "Closed"), cell: ({ closeTime }) => timestamp(closeTime) },
      { title: t("实点", "Counted"), look: "number", cell: ({ counted }) => formatYuan(counted) },
      { title: t("差额", "Difference"), look: "number", cell: ({ difference }) => signedYuan(difference) },
      { title: t("操作", "Actions"), look: "acts", cell: (report) => button(t("查看", "View"), () => openZReport(report)) },
    ], rows), nextBefore !== undefined && h("div", { class: "pager" }, button(t("更早的", "Earlier"), more, { icon: "down" })));
  }
}
