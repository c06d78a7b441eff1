// The service worker of a kiosk: opens its page from the browser's own copy while the mall does not answer. The
// page names its files (store/kiosk/shell.js); answers of the API are never kept.

/** Beginning of the names of the caches; the version of the files follows. */
const NAME = "mallbox-kiosk-";
/** Time after which a kept copy is shown: a mall may be silent instead of away. */
const WAIT_MS = 3_000;

const worker = /** @type {any} */ (self);

worker.addEventListener("install", () => worker.skipWaiting());
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  if (isOfShell(event.request)) event.respondWith(answer(event.request));
});
worker.addEventListener("message", (/** @type {any} */ event) => event.waitUntil(keep(event.data)));

/**
 * Keeps copies of files, and drops those of other versions once all are there.
 * @param {{version: string, urls: string[], isComplete?: boolean}} shell
 */
async function keep({ version, urls, isComplete = false }) {
  const cache = await caches.open(NAME + version);
  await Promise.allSettled(urls.map((url) => cache.add(url)));
  if (!isComplete) return;
  for (const name of await caches.keys()) if (name.startsWith(NAME) && name !== NAME + version) await caches.delete(name);
}

/**
 * Whether the request is for a kiosk's page or one of its files.
 * @param {Request} request
 */
function isOfShell({ method, mode, url }) {
  const { origin, pathname, searchParams } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return false;
  return mode === "navigate" ? searchParams.has("kiosk") : pathname.startsWith("/mall/assets/");
}

/**
 * Returns the mall's answer, or the kept copy.
 * @param {Request} request
 */
async function answer(request) {
  const kept = await caches.match(request, { ignoreVary: true });
  const fresh = fetch(request);
  if (!kept) return fresh;
  const late = new Promise((resolve) => setTimeout(resolve, WAIT_MS, kept));
  return Promise.race([fresh.then((response) => (response.ok ? response : kept), () => kept), late]);
}
