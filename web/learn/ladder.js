// What is known of the ladder and the comparisons: the job that runs, and the results so far.

import { KeyRefused, deleteJob, getCatalogue, getJob, postJob, rereadKey } from "./server.js";

/** @typedef {import("./server.js").Rung} Rung */
/** @typedef {import("./server.js").Report} Report */
/** @typedef {import("./server.js").Case} Case */
/** @typedef {import("./server.js").Job} Job */
/** @typedef {import("./server.js").Order} Order */
/** @typedef {import("./server.js").Catalogue} Catalogue */
/** @typedef {"" | "refused" | "gone"} Trouble with the last call */

const POLL_MS = 300;
const RETRY_MS = 2_000;

const changes = new EventTarget();
/** @type {Map<string, Report>} */
const reports = new Map();
/** Newest section of each comparison, by name. @type {Map<string, unknown>} */
const sections = new Map();
/** @type {Trouble} */
let trouble = "";
/** @type {Catalogue | null} */
let catalogue = null;
/** @type {Job | null} */
let job = null;
/** First sight of the job: its progress since then gives the time left. */
let seen = { id: -1, done: 0, at: 0 };
let isPolling = false;

/** Loads the catalogue, and follows a job that runs already. */
export async function load() {
  try {
    catalogue = await getCatalogue();
    keep(catalogue.reports);
    for (const { name, section } of catalogue.comparisons) sections.set(name, section);
    trouble = "";
    show(catalogue.job);
  } catch (error) {
    fail(error);
  }
}

/** Loads again if the address has a new key. */
export async function loadWithNewKey() {
  if (rereadKey()) await load();
}

/**
 * Runs rungs or a comparison, unless a job is running.
 * @param {Order} order
 */
export async function run(order) {
  show(await postJob(order));
}

export async function cancel() {
  await deleteJob();
  show(await getJob());
}

export function isLoaded() {
  return catalogue !== null;
}

export function currentTrouble() {
  return trouble;
}

/** @returns {Rung[]} */
export function allRungs() {
  return catalogue?.rungs ?? [];
}

export function allTriggers() {
  return catalogue?.triggers ?? [];
}

/** Returns the programs that are not installed. */
export function missingPrograms() {
  return catalogue?.missing ?? [];
}

/** @param {string} id */
export function rungOf(id) {
  return allRungs().find((rung) => rung.id === id) ?? null;
}

/** @param {string} name of a comparison */
export function comparisonOf(name) {
  return catalogue?.comparisons.find((comparison) => comparison.name === name) ?? null;
}

/**
 * Returns the section of the newest result of a comparison; `null`: it has not been run.
 * @param {string} name
 */
export function sectionOf(name) {
  return sections.get(name) ?? null;
}

/** @param {string} id of a rung */
export function reportOf(id) {
  return reports.get(id) ?? null;
}

/**
 * @param {string} id of a rung
 * @param {string} trigger
 */
export function caseOf(id, trigger) {
  return reportOf(id)?.cases.find((one) => one.trigger === trigger) ?? null;
}

export function currentJob() {
  return job;
}

export function isRunning() {
  return job?.state === "running";
}

/** Returns the time left of the running job, in ms; `null` while nothing of it was seen to end. */
export function timeLeftMs() {
  if (!job || job.done <= seen.done) return null;
  return ((performance.now() - seen.at) / (job.done - seen.done)) * (job.total - job.done);
}

/**
 * @param {() => void} listener
 * @param {AbortSignal} [signal]
 */
export function onLadderChange(listener, signal) {
  changes.addEventListener("change", listener, { signal });
}

/** @param {Job | null} next */
function show(next) {
  const hasChanged = progressOf(next) !== progressOf(job);
  job = next;
  if (next && next.id !== seen.id) seen = { id: next.id, done: next.done, at: performance.now() };
  if (next && hasChanged) keep(next.reports);
  if (next?.comparison && next.section) sections.set(next.comparison, next.section);
  changes.dispatchEvent(new Event("change"));
  if (isRunning() && !isPolling) void poll();
}

async function poll() {
  isPolling = true;
  let pauseMs = POLL_MS;
  while (isRunning()) {
    await new Promise((resolve) => { setTimeout(resolve, pauseMs); });
    try {
      const next = await getJob();
      pauseMs = POLL_MS;
      const hasRecovered = trouble !== "";
      trouble = "";
      if (hasRecovered || progressOf(next) !== progressOf(job)) show(next);
    } catch (error) {
      fail(error);
      if (error instanceof KeyRefused) break;
      pauseMs = RETRY_MS;
    }
  }
  isPolling = false;
}

/** @param {Job | null} of */
function progressOf(of) {
  return of && JSON.stringify([of.id, of.state, of.done, of.doing]);
}

/** @param {Report[]} added */
function keep(added) {
  for (const report of added) reports.set(report.id, report);
}

/** @param {unknown} error */
function fail(error) {
  trouble = error instanceof KeyRefused ? "refused" : "gone";
  changes.dispatchEvent(new Event("change"));
}
