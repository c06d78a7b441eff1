// The lanes of a timeline: client, instances, Redis and database, from left to right.

import { t } from "../../core/language.js";
import { capital } from "../prose.js";
import { instanceLetter, instanceName } from "../words.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {"client" | "instance" | "redis" | "database"} LaneKind */
/**
 * @typedef {object} Lane
 * @property {LaneKind} kind
 * @property {number} instance of other lanes: -1
 * @property {string} name
 * @property {string} short
 * @property {number} x
 */
/**
 * @typedef {object} Lanes
 * @property {Lane[]} all
 * @property {boolean} isNarrow without texts at the arrows
 * @property {number} gutter width of the column of times
 * @property {number} width
 * @property {number} slotPx distance of activities of one instance
 */

const NARROW_BELOW_PX = 640;
/**
 * Shares of the width between two lanes: a call from the last instance needs room for its text.
 * @type {Record<string, number>}
 */
const SHARES = { "client instance": 0.8, "instance instance": 0.65, "instance redis": 1.3, "instance database": 1.6, "redis database": 1 };
const WIDE = { gutter: 112, left: 40, right: 52, slotPx: 14, slotsPx: 56 };
const NARROW = { gutter: 54, left: 22, right: 22, slotPx: 9, slotsPx: 30 };

/**
 * @param {Model} model
 * @param {number} width in px
 * @returns {Lanes}
 */
export function lanesOf(model, width) {
  const isNarrow = width < NARROW_BELOW_PX;
  const { gutter, left, right, slotPx, slotsPx } = isNarrow ? NARROW : WIDE;
  const all = lanesWithoutPlaces(model);
  const shares = all.slice(1).map(({ kind }, index) => (isNarrow ? 1 : SHARES[`${all[index].kind} ${kind}`] ?? 1));
  const room = width - gutter - left - right;
  const sum = shares.reduce((one, other) => one + other, 0);
  let x = gutter + left;
  for (const [index, lane] of all.entries()) {
    lane.x = Math.round(x);
    x += (room * (shares[index] ?? 0)) / sum;
  }
  const mostSlots = Math.max(1, ...model.slots.values());
  return { all, isNarrow, gutter, width, slotPx: Math.min(slotPx, slotsPx / mostSlots) };
}

/**
 * Returns the x of a lane.
 * @param {Lanes} lanes
 * @param {LaneKind} kind
 * @param {number} [instance]
 */
export function xOf(lanes, kind, instance = -1) {
  const lane = lanes.all.find((one) => one.kind === kind && one.instance === instance);
  return lane?.x ?? lanes.all[0].x;
}

/**
 * Returns the x of an activity beside others of its instance.
 * @param {Lanes} lanes
 * @param {Model} model
 * @param {import("./model.js").Activity} activity
 */
export function xOfActivity(lanes, { slots }, { instance, slot }) {
  const count = slots.get(instance) ?? 1;
  return xOf(lanes, "instance", instance) + (slot - (count - 1) / 2) * lanes.slotPx;
}

/**
 * Returns the right edge of the activities of an instance: texts begin there.
 * @param {Lanes} lanes
 * @param {Model} model
 * @param {number} instance
 */
export function edgeOf(lanes, { slots }, instance) {
  return xOf(lanes, "instance", instance) + (((slots.get(instance) ?? 1) - 1) / 2) * lanes.slotPx;
}

/**
 * @param {Model} model
 * @returns {Lane[]}
 */
function lanesWithoutPlaces({ instances, hasRedis }) {
  return [
    { kind: "client", instance: -1, name: t("客户端", "Client"), short: t("客户", "Client"), x: 0 },
    ...Array.from({ length: instances }, (_, instance) => (
      { kind: /** @type {LaneKind} */ ("instance"), instance, name: capital(instanceName(instance)), short: instanceLetter(instance), x: 0 })),
    ...(hasRedis ? [{ kind: /** @type {LaneKind} */ ("redis"), instance: -1, name: "Redis", short: "Redis", x: 0 }] : []),
    { kind: "database", instance: -1, name: t("数据库", "Database"), short: t("库", "DB"), x: 0 },
  ];
}
