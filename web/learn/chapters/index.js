// The chapters, in the order in which they are read. A new chapter is a module and a line here.

import { comparedCaches } from "./compared-caches.js";
import { comparedFeeds } from "./compared-feeds.js";
import { comparedQueues } from "./compared-queues.js";
import { counters } from "./counters.js";
import { database } from "./database.js";
import { design } from "./design.js";
import { goodLocks } from "./good-locks.js";
import { hotRow } from "./hot-row.js";
import { processLocks } from "./process-locks.js";
import { queues } from "./queues.js";
import { redisLocks } from "./redis-locks.js";

/** @typedef {import("../prose.js").Words} Words */
/**
 * What a rung does, why people believe in it, and what goes wrong or what it costs.
 * @typedef {{does: Words, belief: Words, price: Words}} Idea
 */
/**
 * A comparison of the server, with what a run takes and how its section is drawn.
 * @typedef {object} Comparison
 * @property {string} name
 * @property {Words} about length of a run, and its servers
 * @property {Record<string, string>} zh the ways in Chinese, by name; the server has them in English
 * @property {(section: unknown) => HTMLElement[]} draw
 */
/**
 * @typedef {object} Chapter
 * @property {string} id in the address
 * @property {Words} title
 * @property {Words} lead
 * @property {[string, Idea][]} rungs by id
 * @property {Comparison} [comparison] shown after the rungs
 * @property {() => HTMLElement[]} [body] what else the chapter shows, after its rungs
 */

/** @type {Chapter[]} */
export const CHAPTERS = [counters, database, processLocks, redisLocks, goodLocks, queues, hotRow, design, comparedQueues, comparedFeeds, comparedCaches];

/** @param {string} rung id */
export function chapterOf(rung) {
  return CHAPTERS.find(({ rungs }) => rungs.some(([id]) => id === rung)) ?? null;
}
