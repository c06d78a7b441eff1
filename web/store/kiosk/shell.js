// Copies of the kiosk's page and its files in the browser, so that the kiosk opens while the mall is away.

const ASSETS = "/mall/assets/";
/** By then, all screens are loaded, and copies of other versions can go. */
const COMPLETE_AFTER_MS = 30_000;

/**
 * Lets the service worker keep copies from now on. Browsers permit it on the machine itself and with TLS;
 * elsewhere, a page that is open waits for the mall, and one that is loaded anew shows the browser's error.
 */
export async function keepShell() {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  try {
    await navigator.serviceWorker.register(new URL("kiosk-worker.js", location.href));
    const worker = (await navigator.serviceWorker.ready).active;
    const version = new URL(import.meta.url).pathname.slice(ASSETS.length).split("/")[0];
    const keep = (/** @type {string[]} */ urls) => worker?.postMessage({ version, urls });
    keep([location.href.split("#")[0]]);
    new PerformanceObserver((entries) => {
      keep(entries.getEntries().map(({ name }) => name).filter((url) => new URL(url).pathname.startsWith(ASSETS)));
    }).observe({ type: "resource", buffered: true });
    setTimeout(() => worker?.postMessage({ version, urls: [], isComplete: true }), COMPLETE_AFTER_MS);
  } catch {
    // Without copies the kiosk works as long as the mall does.
  }
}
