// Reads codes with the camera, where the browser can.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";

/** How often a picture is looked at. */
const LOOK_EVERY_MS = 200;

/** Not everywhere, and not yet among the types that the checker knows. */
const Detector = /** @type {any} */ (globalThis).BarcodeDetector;

/** Why the camera cannot be used here; nothing if it can. */
export function whyNoCamera() {
  if (!isSecureContext) return t("这个页面没有加密（https），浏览器不让用摄像头。", "This page came unencrypted (no https), so the browser keeps the camera from it.");
  if (!Detector) return t("这个浏览器不会用摄像头扫码。", "This browser cannot read codes with the camera.");
  if (!navigator.mediaDevices) return t("这台设备没有摄像头。", "There is no camera here.");
  return "";
}

/**
 * The camera's picture, until a code is seen, `stop` is pressed, or `signal`.
 * @param {AbortSignal} signal
 * @param {(code: string) => void} found
 * @param {() => void} stopped
 * @returns {Promise<HTMLElement>}
 */
export async function scanner(signal, found, stopped) {
  const stream = await camera();
  const video = h("video", { class: "scanner-picture", muted: true, playsinline: true, "aria-label": t("摄像头画面", "What the camera sees") });
  video.srcObject = stream;
  const root = h("div", { class: "scanner stack" }, video, button(t("关闭摄像头", "Turn the camera off"), stop));
  const detector = new Detector({ formats: ["qr_code"] });
  const timer = setInterval(look, LOOK_EVERY_MS);
  signal.addEventListener("abort", stop);
  await video.play();
  return root;

  async function look() {
    const [code] = await detector.detect(video).catch(() => []);
    if (!code || !stream.active) return;
    stop();
    found(code.rawValue);
  }

  function stop() {
    clearInterval(timer);
    for (const track of stream.getTracks()) track.stop();
    root.remove();
    stopped();
  }
}

async function camera() {
  try {
    return await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch {
    throw new NoCamera();
  }
}

/** The camera was refused, or there is none. */
export class NoCamera extends Error {}
