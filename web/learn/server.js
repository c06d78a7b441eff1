// The API of `mallbox learn`.

/** @typedef {import("./prose.js").Words} Words */
/**
 * @typedef {object} Rung
 * @property {string} id
 * @property {Words} title
 * @property {number} instances
 * @property {string} source
 * @property {string} file
 * @property {{name: string, expected: string[]}[]} triggers
 */
/**
 * A comparison of ways.
 * @typedef {object} Comparison
 * @property {string} name
 * @property {{way: string, about: string}[]} ways
 * @property {unknown} section of the newest result since the server started; `null`: none
 */
/**
 * @typedef {object} Catalogue
 * @property {Rung[]} rungs
 * @property {{name: string, about: Words}[]} triggers
 * @property {Comparison[]} comparisons
 * @property {string[]} missing programs that are not installed
 * @property {Job | null} job
 * @property {Report[]} reports of everything run since the server started
 */
/**
 * @typedef {object} Job
 * @property {number} id
 * @property {string[]} rungs empty for a comparison
 * @property {string | null} comparison
 * @property {JobState} state
 * @property {string | null} error
 * @property {number} done
 * @property {number} total 0 until the servers run
 * @property {RungStep | WayStep | null} doing
 * @property {Report[]} reports
 * @property {unknown} section of the comparison, once it is done
 */
/** @typedef {"running" | "done" | "cancelled" | "failed"} JobState */
/** @typedef {{rung: string, trigger: string | null}} RungStep a trigger of `null` measures rates */
/** @typedef {{way: string, words: string}} WayStep of a comparison */
/** @typedef {{rungs: string[], repeat: number} | {comparison: string}} Order what a job runs */
/**
 * @typedef {object} Report
 * @property {string} id
 * @property {{accepted_per_s: number, persisted_per_s: number, p99_ms: number} | null} speed
 * @property {Case[]} cases
 */
/**
 * @typedef {object} Case
 * @property {string} trigger
 * @property {number} runs
 * @property {string[]} expected
 * @property {Record<string, {runs: number, most: number}>} seen
 * @property {boolean} as_expected
 * @property {string[]} errors
 * @property {StoryEvent[]} story
 * @property {number | null} mistake index into `story`
 */
/**
 * @typedef {object} StoryEvent
 * @property {number} at_us since the beginning of the story
 * @property {number | null} request
 * @property {number | null} user
 * @property {number | null} instance
 * @property {Kind} kind
 */
/**
 * @typedef {object} Call
 * @property {"called"} what
 * @property {"redis" | "database"} server
 * @property {string} text command or statement
 * @property {string} result
 * @property {number} until_us time of the result, since the beginning of the story
 */
/**
 * @typedef {Call
 *   | {what: "sent" | "stopped" | "resumed" | "killed" | "restarted" | "lease_over" | "failed_over"}
 *   | {what: "replied", reply: string}
 *   | {what: "reached", point: string, is_held: boolean}
 *   | {what: "let_go", point: string}
 *   | {what: "units_returned", units: number}} Kind
 */

const PATH = "/api/learn";
const KEY_NAME = "mallbox-learn-key";

/** The key in the address is not, or no longer, the server's. */
export class KeyRefused extends Error {}

/** The server does not respond. */
export class ServerGone extends Error {}

/** Programs are not installed. */
export class ProgramsMissing extends Error {
  /** @param {string[]} programs */
  constructor(programs) {
    super(programs.join(", "));
    this.programs = programs;
  }
}

let key = takeKey();

/** @returns {Promise<Catalogue>} */
export async function getCatalogue() {
  return (await request("GET", "")).json();
}

/** @returns {Promise<Job | null>} */
export async function getJob() {
  const response = await request("GET", "/job");
  return response.status === 404 ? null : response.json();
}

/**
 * Starts a job. Returns the job that is running, if there is one already.
 * @param {Order} order
 * @returns {Promise<Job>}
 */
export async function postJob(order) {
  const response = await request("POST", "/job", order);
  if (response.status === 503) throw new ProgramsMissing((await response.json()).missing);
  return response.json();
}

export async function deleteJob() {
  await request("DELETE", "/job");
}

/** Reads the key again, after the address of the page has changed. Returns whether there was one. */
export function rereadKey() {
  const before = key;
  key = takeKey();
  return key !== before;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
async function request(method, path, body) {
  const headers = { "x-learn-key": key, ...(body && { "content-type": "application/json" }) };
  const response = await fetch(PATH + path, { method, headers, body: body && JSON.stringify(body) }).catch(() => {
    throw new ServerGone();
  });
  if (response.status === 401) throw new KeyRefused();
  const isExpected = response.ok || [404, 409, 503].includes(response.status);
  if (!isExpected) throw new ServerGone(`${response.status}`);
  return response;
}

/** Moves the key from the address into the session's storage: it outlives a reload, and nobody sees it. */
function takeKey() {
  const given = new URLSearchParams(location.hash.slice(1)).get("key");
  if (given === null) return stored();
  history.replaceState(null, "", location.pathname + location.search);
  try {
    sessionStorage.setItem(KEY_NAME, given);
  } catch {
    // Storage is disabled: the key is in memory.
  }
  return given;
}

function stored() {
  try {
    return sessionStorage.getItem(KEY_NAME) ?? "";
  } catch {
    return "";
  }
}
