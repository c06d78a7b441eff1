// The kinds of challenges, as the mall describes them.

import { t } from "../../core/language.js";

/** @typedef {"picture" | "slider" | "work" | "service"} Kind */
/**
 * @typedef {object} Challenge
 * @property {string} challenge token, sent with the answer
 * @property {Kind} kind
 * @property {Kind[]} kinds kinds that can be asked for
 * @property {number} expiresInMs
 * @property {string} deviceTicket
 * @property {number} passInMs time until passes are issued; 0 = now
 * @property {{salt: string, bits: number}} [work]
 * @property {{image: string, width: number, height: number, characters: number}} [picture]
 * @property {{name: string, siteKey: string, scriptUrl: string}} [service] an external service
 * @property {{background: string, piece: string, width: number, height: number, pieceWidth: number, pieceHeight: number, top: number}} [slider]
 */
/** @typedef {{work: string} | {text: string} | {left: number, track: number[][]} | {response: string} | {geetest: object}} Answer */
/**
 * What a visitor sees of a challenge. `start` is called once the elements are on the page.
 * @typedef {{root: HTMLElement, start: () => void}} View
 */

/**
 * Returns the text of the button that changes to a kind.
 * @param {Kind} kind
 */
export function changeText(kind) {
  switch (kind) {
    case "picture": return t("换成输入文字", "Type characters instead");
    case "slider": return t("换成拖动拼图", "Move a puzzle piece instead");
    case "work": return t("不看图，让设备计算", "No picture: let this device compute");
    case "service": return t("换成人机验证", "Take a CAPTCHA instead");
  }
}
