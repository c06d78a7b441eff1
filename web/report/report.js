// The results as one set: systems of several results get names and looks of their own.

import { readSystem } from "./read-results.js";

/** @typedef {import("./result.js").Result} Result */
/** @typedef {import("./result.js").System} System */
/** @typedef {import("./result.js").Run} Run */
/** @typedef {import("./result.js").DurabilityClass} DurabilityClass */

/**
 * A system of one result.
 * @typedef {object} Subject
 * @property {System} system
 * @property {Result} result
 * @property {string} name short, and unique in the report
 * @property {string} classKey equal for systems of one class
 * @property {number} look index of the look in charts
 */
/** @typedef {{subject: Subject, run: Run}} SubjectRun */
/** @typedef {{key: string, class: DurabilityClass, subjects: Subject[]}} ClassGroup */
/**
 * @typedef {object} Report
 * @property {Result[]} results
 * @property {Subject[]} subjects
 * @property {ClassGroup[]} classes the most durable first
 * @property {SubjectRun[]} runs failed ones too
 * @property {SubjectRun[]} completed runs that did not fail
 * @property {string[]} workloads of completed runs and of summaries
 */

const DURABLE_ORDER = ["power", "process", "memory"];

/**
 * @param {Result[]} results
 * @returns {Report}
 */
export function buildReport(results) {
  const systems = results.flatMap((result, index) => systemsOf(result).map((system) => ({ system, result, index })));
  const subjects = systems.map(({ system, result, index }, look) => {
    // A name alone tells more. Names of several systems are too long for charts.
    const name = systems.length > 1 ? system.id : system.name;
    return { system, result, classKey: classKey(system.class), look, name: results.length > 1 ? `${name} (${index + 1})` : name };
  });
  const runs = results.flatMap((result) => result.runs.flatMap((run) => {
    const subject = subjectOf(subjects, result, run.system);
    return subject ? [{ subject, run }] : [];
  }));
  const completed = runs.filter(({ run }) => run.failure === null);
  return {
    results, subjects, classes: classGroups(subjects), runs, completed,
    workloads: unique([...completed.map(({ run }) => run.workload), ...results.flatMap(({ summary }) => summary.map(({ workload }) => workload))]),
  };
}

/**
 * @param {Subject[]} subjects
 * @param {Result} result
 * @param {string} id
 */
export function subjectOf(subjects, result, id) {
  return subjects.find((subject) => subject.result === result && subject.system.id === id);
}

/**
 * @template Item
 * @param {Item[]} items
 */
export function unique(items) {
  return [...new Set(items)];
}

/**
 * Returns the systems of a result, with those that only its runs or summary name.
 * @param {Result} result
 */
function systemsOf(result) {
  const known = new Set(result.systems.map(({ id }) => id));
  const named = unique([...result.runs, ...result.summary].map(({ system }) => system));
  return [...result.systems, ...named.filter((id) => !known.has(id)).map((id) => readSystem(id, {}))];
}

/** @param {DurabilityClass} promises */
function classKey(promises) {
  return [promises.durable, promises.one_per_user, promises.exactly_once_after_kill].join(" ");
}

/**
 * @param {Subject[]} subjects
 * @returns {ClassGroup[]}
 */
function classGroups(subjects) {
  const groups = unique(subjects.map((subject) => subject.classKey)).map((key) => {
    const members = subjects.filter((subject) => subject.classKey === key);
    return { key, class: members[0].system.class, subjects: members };
  });
  return groups.sort((a, b) => durableOrder(a) - durableOrder(b));
}

/** @param {ClassGroup} group */
function durableOrder(group) {
  const order = DURABLE_ORDER.indexOf(group.class.durable);
  return order < 0 ? DURABLE_ORDER.length : order;
}
