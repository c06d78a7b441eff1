// Names of the outcomes and signals of attempts to claim, in the decision log and in the rules.

import { t } from "../core/language.js";
import { chip } from "../parts/chip.js";

/** Signals that rules can use, in the order of the explanation. */
export const SIGNALS = ["address-users", "device-users", "user-attempts", "account-hours", "pass-age-ms", "solve-ms", "track-spread"];

/** @param {string} outcome */
export function outcomeText(outcome) {
  switch (outcome) {
    case "ACCEPTED": return t("抢到", "Got a unit");
    case "ALREADY_BOUGHT": return t("已抢过", "Already bought");
    case "SOLD_OUT": return t("已抢光", "Sold out");
    case "CLOSED": return t("未开放", "Not open");
    case "NOT_ELIGIBLE": return t("不符合门槛", "Below a threshold");
    case "RATE_LIMITED": return t("太频繁", "Rate limited");
    case "NOT_ADMITTED": return t("未轮到", "Not admitted");
    case "PASS_REQUIRED": return t("未验证", "No pass");
    case "CHALLENGE_AGAIN": return t("须再验证", "Second check");
    case "LOOKS_AUTOMATED": return t("疑似脚本，已拒绝", "Refused as automated");
    case "FAILED": return t("结果不明", "In doubt");
    default: return outcome;
  }
}

/** @param {string} outcome */
export function outcomeChip(outcome) {
  switch (outcomeGroup(outcome)) {
    case "got": return chip(outcomeText(outcome), "good");
    case "stopped": return chip(outcomeText(outcome), "sale");
    default: return chip(outcomeText(outcome));
  }
}

/**
 * Returns whether an attempt got a unit, was stopped by the judgement, or got nothing for another reason.
 * @param {string} outcome
 * @returns {"got" | "stopped" | "other"}
 */
export function outcomeGroup(outcome) {
  if (outcome === "ACCEPTED") return "got";
  return outcome === "CHALLENGE_AGAIN" || outcome === "LOOKS_AUTOMATED" ? "stopped" : "other";
}

/** @param {string} signal */
export function signalText(signal) {
  switch (signal) {
    case "address-users": return t("同一地址的用户", "Users of the address");
    case "device-users": return t("同一设备的用户", "Users of the device");
    case "user-attempts": return t("同一用户的次数", "Attempts of the user");
    case "account-hours": return t("账号注册时长", "Age of the account");
    case "pass-age-ms": return t("从可抢到抢购", "From pass to claim");
    case "solve-ms": return t("验证用时", "Time for the check");
    case "track-spread": return t("滑动的快慢变化", "Variation of the slide");
    default: return signal;
  }
}

/** @param {string} signal */
export function signalHelp(signal) {
  switch (signal) {
    case "address-users": return t("一分钟内，从同一地址抢这场秒杀的不同用户数。学校、公司和手机网络里，很多人共用一个地址。",
      "Distinct users from the address at this sale within a minute. People in a school, a company or a mobile network share an address.");
    case "device-users": return t("一分钟内，用同一台设备抢这场秒杀的不同用户数。", "Distinct users of the device at this sale within a minute.");
    case "user-attempts": return t("十秒内，同一用户抢这场秒杀的次数。", "Attempts of the user at this sale within ten seconds.");
    case "account-hours": return t("账号注册了多少小时。", "Age of the account, in hours.");
    case "pass-age-ms": return t("从领到通行码（开抢前领到的，从开抢算起）到抢购的毫秒数。人要看到按钮才会点，脚本立刻就点。",
      "Milliseconds from the issue of the pass, or from the begin of the sale if later, to the claim. People see the button first; scripts claim at once.");
    case "solve-ms": return t("从看到验证到提交答案的毫秒数。", "Milliseconds from the challenge to its answer.");
    case "track-spread": return t("拖动拼图时速度的变化，单位千分之一。人手忽快忽慢，匀速接近0。",
      "Variation of the pointer's speed while a puzzle piece is moved, in thousandths. Hands are uneven; an even movement is close to 0.");
    default: return signal;
  }
}

/**
 * Formats the value of a signal with its unit.
 * @param {string} signal
 * @param {number} value
 */
export function signalValueText(signal, value) {
  const number = value.toLocaleString();
  switch (signal) {
    case "address-users":
    case "device-users": return t(`${number} 人`, `${number}`);
    case "user-attempts": return t(`${number} 次`, `${number}`);
    case "account-hours": return t(`${number} 小时`, `${number} h`);
    case "pass-age-ms":
    case "solve-ms": return t(`${number} 毫秒`, `${number} ms`);
    case "track-spread": return `${number}‰`;
    default: return number;
  }
}
