// The dialog for reporting notes, comments and reviews to the operators.

import { call, hasToken } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";
import { field } from "../../parts/field.js";
import { openSheet } from "../../parts/sheet.js";
import { showToast } from "../../parts/toast.js";
import { goToLogin, redirectIfUnauthorized } from "../login-guard.js";

const MAX_LENGTH = 255;

/**
 * @param {"note" | "comment" | "review"} kind
 * @param {number} id
 */
export async function report(kind, id) {
  if (!hasToken()) {
    goToLogin();
    return;
  }
  const reasons = [
    t("广告或刷单", "Advertising"), t("不友善、骂人", "Rude or abusive"), t("色情或暴力", "Sexual or violent"), t("内容不实", "Misinformation"), t("其他", "Other"),
  ];
  await openSheet(t("举报", "Report"), (close) => {
    const details = field(t("补充说明（选填）", "Details (optional)"), "textarea", { maxlength: 200 });
    const radios = reasons.map((reason, index) => {
      const input = h("input", { type: "radio", name: "reason", value: reason, checked: index === 0 });
      return { input, label: h("label", { class: "row report-reason" }, input, h("span", null, reason)) };
    });
    const sendReport = async () => {
      const chosen = radios.find(({ input }) => input.checked)?.input.value ?? "";
      const reason = [chosen, details.input.value.trim()].filter(Boolean).join("：").slice(0, MAX_LENGTH);
      try {
        await call("POST", "/report", { body: { kind, id, reason } });
      } catch (error) {
        if (!redirectIfUnauthorized(error)) throw error;
        close();
        return;
      }
      close();
      showToast(t("感谢反馈，管理员会尽快处理", "Thank you. The operators will review the report."));
    };
    return [
      h("fieldset", { class: "stack tight" }, h("legend", { class: "quiet small" }, t("为什么举报？", "Reason")), radios.map(({ label }) => label)),
      details.root,
      h("div", { class: "buttons" }, button(t("取消", "Cancel"), close), button(t("举报", "Report"), sendReport, { look: ["main"] })),
    ];
  });
}
