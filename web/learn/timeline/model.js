// The rows of a timeline: where each event stands, from top to bottom, and who is active meanwhile.

/** @typedef {import("../server.js").StoryEvent} StoryEvent */
/** @typedef {import("../server.js").Call} Call */
/**
 * A row. `event`: something happens; a call may return within its row. `return`: a call returns after other
 * events. `gap`: nothing happens for long.
 * @typedef {object} Row
 * @property {"event" | "return" | "gap"} kind
 * @property {number} index of the event; of a gap: of the event after it
 * @property {number} y top, in px
 * @property {number} height in px
 * @property {number} us time since the beginning; of a gap: its length
 * @property {boolean} isWhole of an event that is a call: it returns within the row
 */
/**
 * The time of a request, or of a worker's order, on its instance.
 * @typedef {object} Activity
 * @property {string} name `R2`, or `W` for a worker
 * @property {number} instance
 * @property {number} look
 * @property {number} slot place beside other activities of the instance
 * @property {number} from y
 * @property {number} to y
 */
/**
 * A time in which nothing moves: a request held by the trigger, or a stopped or dead instance.
 * @typedef {object} Standstill
 * @property {"held" | "stopped" | "dead"} kind
 * @property {number} instance
 * @property {Activity | null} activity of a held request
 * @property {number} from y
 * @property {number} to y
 */
/**
 * @typedef {object} Model
 * @property {StoryEvent[]} story
 * @property {number | null} mistake
 * @property {Row[]} rows
 * @property {number} height
 * @property {number} instances
 * @property {boolean} hasRedis
 * @property {Activity[]} activities
 * @property {Map<number, number>} slots number of places by instance
 * @property {Standstill[]} standstills
 */

/** From this time without events, the time is cut out. */
const GAP_US = 80_000;
const HEIGHTS = { event: 30, wholeCall: 46, mistake: 48, return: 26, gap: 34 };
/** Distance of an event from the top of its row. */
export const EVENT_Y = 19;
/** Distance of the return from the top of the row of a call that is whole. */
export const RETURN_Y = 36;

/**
 * @param {import("../server.js").Case} case_
 * @param {number} instances of the rung
 * @returns {Model}
 */
export function modelOf({ story, mistake }, instances) {
  const { rows, height } = layOut(story, mistake);
  const activities = activitiesOf(story, rows);
  const isRedis = (/** @type {StoryEvent} */ { kind }) => kind.what === "failed_over" || (kind.what === "called" && kind.server === "redis");
  return {
    story,
    mistake,
    rows,
    height,
    instances: Math.max(instances, ...story.map(({ instance }) => (instance ?? -1) + 1)),
    hasRedis: story.some(isRedis),
    activities,
    slots: placed(activities),
    standstills: standstillsOf(story, rows, activities, height),
  };
}

/**
 * Returns the activity to which an event belongs.
 * @param {Model} model
 * @param {number} index of the event
 */
export function activityOf({ story, activities, rows }, index) {
  const { instance } = story[index];
  const y = yOf(rows, index);
  return activities.find((one) => one.instance === instance && one.name === nameOf(story[index]) && one.from <= y && y <= one.to) ?? null;
}

/**
 * Returns the row of an event.
 * @param {Row[]} rows
 * @param {number} index of the event
 */
export function rowOf(rows, index) {
  return /** @type {Row} */ (rows.find((row) => row.kind === "event" && row.index === index));
}

/**
 * Returns the y at which an event happens.
 * @param {Row[]} rows
 * @param {number} index of the event
 */
export function yOf(rows, index) {
  return rowOf(rows, index).y + EVENT_Y;
}

/**
 * Returns the y at which a call returns.
 * @param {Row[]} rows
 * @param {number} index of the event
 */
export function returnYOf(rows, index) {
  const later = rows.find((row) => row.kind === "return" && row.index === index);
  return later ? later.y + EVENT_Y - 4 : rowOf(rows, index).y + RETURN_Y;
}

/** @param {StoryEvent} event */
export function nameOf({ request }) {
  return request === null ? "W" : `R${request}`;
}

/**
 * @param {StoryEvent[]} story
 * @param {number | null} mistake
 */
function layOut(story, mistake) {
  const moments = story.flatMap(({ at_us: us, kind }, index) => [
    { us, index, isReturn: false },
    ...(kind.what === "called" ? [{ us: kind.until_us, index, isReturn: true }] : []),
  ]).sort((one, other) => one.us - other.us || one.index - other.index || Number(one.isReturn) - Number(other.isReturn));
  /** @type {Row[]} */
  const rows = [];
  let [y, before] = [0, moments[0]?.us ?? 0];
  const add = (/** @type {Omit<Row, "y">} */ row) => {
    rows.push({ ...row, y });
    y += row.height;
  };
  for (let place = 0; place < moments.length; place += 1) {
    const { us, index, isReturn } = moments[place];
    if (us - before >= GAP_US) add({ kind: "gap", index, height: HEIGHTS.gap, us: us - before, isWhole: false });
    const next = moments[place + 1];
    const isWhole = next?.isReturn === true && next.index === index && next.us - us < GAP_US;
    if (isReturn) add({ kind: "return", index, height: HEIGHTS.return, us, isWhole: false });
    else add({ kind: "event", index, height: heightOf(isWhole, index === mistake), us, isWhole });
    before = isWhole ? next.us : us;
    if (isWhole) place += 1;
  }
  return { rows, height: y };
}

/**
 * @param {boolean} isWhole
 * @param {boolean} isMistake
 */
function heightOf(isWhole, isMistake) {
  if (isMistake) return HEIGHTS.mistake;
  return isWhole ? HEIGHTS.wholeCall : HEIGHTS.event;
}

/**
 * @param {StoryEvent[]} story
 * @param {Row[]} rows
 */
function activitiesOf(story, rows) {
  /** @type {Activity[]} */
  const activities = [];
  /** @type {Map<string, Activity>} */
  const open = new Map();
  /** @type {Map<string, number>} */
  const looks = new Map();
  for (const [index, { instance, request, user, kind }] of story.entries()) {
    if (instance === null) continue;
    const y = yOf(rows, index);
    if (kind.what === "killed") {
      for (const activity of [...open.values()].filter((one) => one.instance === instance)) {
        activity.to = y;
        open.delete(`${instance} ${activity.name}`);
      }
    }
    if (request === null && user === null) continue;
    const name = nameOf(story[index]);
    const key = `${instance} ${name}`;
    const look = looks.get(name) ?? looks.set(name, looks.size).size - 1;
    const activity = open.get(key) ?? { name, instance, look, slot: 0, from: y, to: y };
    if (!open.has(key)) activities.push(activity);
    open.set(key, activity);
    activity.to = kind.what === "called" ? returnYOf(rows, index) : y;
    if (kind.what === "replied") open.delete(key);
  }
  return activities;
}

/**
 * Places activities of an instance that overlap beside each other.
 * @param {Activity[]} activities
 */
function placed(activities) {
  /** @type {Map<number, number[]>} */
  const ends = new Map();
  for (const activity of activities) {
    const taken = ends.get(activity.instance) ?? [];
    const free = taken.findIndex((end) => end < activity.from);
    activity.slot = free < 0 ? taken.length : free;
    taken[activity.slot] = activity.to;
    ends.set(activity.instance, taken);
  }
  return new Map([...ends].map(([instance, taken]) => [instance, taken.length]));
}

/**
 * @param {StoryEvent[]} story
 * @param {Row[]} rows
 * @param {Activity[]} activities
 * @param {number} height
 */
function standstillsOf(story, rows, activities, height) {
  /** @type {Standstill[]} */
  const found = [];
  for (const [index, { instance, kind }] of story.entries()) {
    if (instance === null) continue;
    const from = yOf(rows, index);
    const until = (/** @type {string[]} */ ...ends) => {
      const end = story.findIndex((event, place) => place > index && event.instance === instance && ends.includes(event.kind.what)
        && (event.kind.what !== "let_go" || nameOf(event) === nameOf(story[index])));
      return end < 0 ? height : yOf(rows, end);
    };
    if (kind.what === "stopped") found.push({ kind: "stopped", instance, activity: null, from, to: until("resumed", "killed") });
    if (kind.what === "killed") found.push({ kind: "dead", instance, activity: null, from, to: until("restarted") });
    if (kind.what === "reached" && kind.is_held) {
      const activity = activities.find((one) => one.instance === instance && one.name === nameOf(story[index]) && one.from <= from && from <= one.to);
      if (activity) found.push({ kind: "held", instance, activity, from, to: until("let_go", "killed") });
    }
  }
  return found;
}
