// A code scanner with the device's camera, where browsers support barcode detection.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { button } from "../../parts/button.js";

/** Interval between scanned frames. */
const LOOK_EVERY_MS = 200;

/** Missing in some browsers and in TypeScript's library. */
const BarcodeDetector = /** @type {any} */ (globalThis).BarcodeDetector;

/** Returns the reason why the camera is unavailable; undefined if available. */
export function cameraUnavailableText() {
  if (!isSecureContext) return t("页面未使用 https，浏览器不允许使用摄像头。", "Browsers allow the camera only on encrypted pages (https).");
  if (!BarcodeDetector) return t("这个浏览器不支持摄像头扫码。", "This browser cannot scan codes.");
  if (!navigator.mediaDevices) return t("这台设备没有摄像头。", "This device has no camera.");
  return "";
}

/**
 * Shows the camera until a code is found, the user stops, or `signal` aborts.
 * @param {AbortSignal} signal
 * @param {(code: string) => void} onCode
 * @param {() => void} onStop
 * @returns {Promise<HTMLElement>}
 */
export async function scanner(signal, onCode, onStop) {
  const stream = await openCamera();
  const video = h("video", { class: "scanner-picture", muted: true, playsinline: true, "aria-label": t("摄像头画面", "Camera view") });
  video.srcObject = stream;
  const root = h("div", { class: "scanner stack" }, video, button(t("关闭摄像头", "Turn off camera"), stop));
  const detector = new BarcodeDetector({ formats: ["qr_code"] });
  const timer = setInterval(scanFrame, LOOK_EVERY_MS);
  signal.addEventListener("abort", stop);
  await video.play();
  return root;

  async function scanFrame() {
    const [code] = await detector.detect(video).catch(() => []);
    if (!code || !stream.active) return;
    stop();
    onCode(code.rawValue);
  }

  function stop() {
    clearInterval(timer);
    for (const track of stream.getTracks()) track.stop();
    root.remove();
    onStop();
  }
}

async function openCamera() {
  try {
    return await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch {
    throw new CameraError();
  }
}

/** No camera, or permission denied. */
export class CameraError extends Error {}
