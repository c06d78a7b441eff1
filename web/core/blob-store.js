// Storage of large data, namely pictures before their upload, in IndexedDB. Falls back to memory until the
// page closes.

const NAME = "mallbox";
const STORE = "pictures";

/** @type {Map<string, Blob>} */
const memory = new Map();
/** @type {Promise<IDBDatabase> | undefined} */
let opening;

/**
 * @param {string} name
 * @param {Blob} blob
 */
export async function putBlob(name, blob) {
  memory.set(name, blob);
  await transact("readwrite", (store) => store.put(blob, name));
}

/**
 * @param {string} name
 * @returns {Promise<Blob | undefined>}
 */
export async function getBlob(name) {
  return memory.get(name) ?? (await transact("readonly", (store) => store.get(name)));
}

/** @param {string} name */
export async function deleteBlob(name) {
  memory.delete(name);
  await transact("readwrite", (store) => store.delete(name));
}

/** Deletes everything. */
export async function clearBlobs() {
  memory.clear();
  await transact("readwrite", (store) => store.clear());
}

/**
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest} blob
 * @returns {Promise<any>}
 */
async function transact(mode, blob) {
  try {
    opening ??= openDatabase();
    const store = (await opening).transaction(STORE, mode).objectStore(STORE);
    return await toPromise(blob(store));
  } catch {
    // IndexedDB is missing or full: the memory copy remains.
    return undefined;
  }
}

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  const request = indexedDB.open(NAME, 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(STORE));
  return toPromise(request);
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function toPromise(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
