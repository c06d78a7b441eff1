// What is too large for `kept.js`: pictures that are not sent yet. Where the browser keeps nothing, it lasts as long as the page.

const NAME = "mallbox";
const STORE = "pictures";

/** @type {Map<string, Blob>} */
const memory = new Map();
/** @type {Promise<IDBDatabase> | undefined} */
let opening;

/**
 * @param {string} name
 * @param {Blob} what
 */
export async function putAway(name, what) {
  memory.set(name, what);
  await done("readwrite", (store) => store.put(what, name));
}

/**
 * @param {string} name
 * @returns {Promise<Blob | undefined>}
 */
export async function takeOut(name) {
  return memory.get(name) ?? (await done("readonly", (store) => store.get(name)));
}

/** @param {string} name */
export async function throwAway(name) {
  memory.delete(name);
  await done("readwrite", (store) => store.delete(name));
}

/**
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest} what
 * @returns {Promise<any>}
 */
async function done(mode, what) {
  try {
    opening ??= opened();
    const store = (await opening).transaction(STORE, mode).objectStore(STORE);
    return await answer(what(store));
  } catch {
    // A private window, or no room: what is in memory has to do.
    return undefined;
  }
}

/** @returns {Promise<IDBDatabase>} */
function opened() {
  const request = indexedDB.open(NAME, 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(STORE));
  return answer(request);
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function answer(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
