// The marks of one event.

import { t } from "../../core/language.js";
import { svg } from "../../core/dom.js";
import { pointName, replyName } from "../words.js";
import { edgeOf, xOf, xOfActivity } from "./lanes.js";
import { arrow, fitted, label, symbol, widthOf } from "./marks.js";
import { nameOf, returnYOf, yOf } from "./model.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Activity} Activity */
/** @typedef {import("./lanes.js").Lanes} Lanes */
/** @typedef {import("../../core/dom.js").Leaf} Leaf */

/** Distance of an arrow from the middle of an activity. */
const EDGE_PX = 5;
/** Space between a symbol and its text. */
const BESIDE_PX = 14;
const DISC_PX = 11;
/** Space around a text at a call; with less than the minimum, the text begins at its own activity. */
const TEXT_PX = 22;
const TEXT_MIN_PX = 40;

/**
 * @param {Model} model
 * @param {Lanes} lanes
 * @param {number} index of the event
 * @param {Activity | null} activity
 * @returns {Leaf[]}
 */
export function eventMarks(model, lanes, index, activity) {
  const event = model.story[index];
  const { kind } = event;
  const y = yOf(model.rows, index);
  const client = xOf(lanes, "client");
  const lane = event.instance === null ? client : xOf(lanes, "instance", event.instance);
  const x = activity ? xOfActivity(lanes, model, activity) : lane;
  const edge = event.instance === null ? lane : edgeOf(lanes, model, event.instance);
  const look = activity ? `look look-${activity.look % 6}` : "look look-5";
  switch (kind.what) {
    case "sent": {
      const user = lanes.isNarrow ? "" : t(` 用户${event.user}`, ` user ${event.user}`);
      return [arrow(client, x - EDGE_PX, y, look), label(`${nameOf(event)}${user}`, client + 8, y - 5, "tl-name")];
    }
    case "replied": {
      // A part of a reply would say something else.
      const text = widthOf(replyName(kind.reply), "face") <= x - client - 16 ? replyName(kind.reply) : "";
      return [arrow(x - EDGE_PX, client, y, `back ${look}`), label(text, client + 12, y - 5, `tl-reply ${kind.reply === "accepted" ? "good" : "no"}`)];
    }
    case "called": {
      const server = xOf(lanes, kind.server);
      const back = returnYOf(model.rows, index);
      const from = server - edge - TEXT_PX < TEXT_MIN_PX ? x : edge;
      const room = server - from - TEXT_PX;
      return [
        arrow(x + EDGE_PX, server - 2, y, look), svg("circle", { class: "tl-served", cx: server, cy: y, r: 3 }),
        label(fitted(kind.text, room, "mono"), from + 12, y - 5, "tl-command"),
        arrow(server, x + EDGE_PX, back, `back ${look}`),
        label(fitted(kind.result, room, "mono"), from + 14, back - 4, "tl-result"),
      ];
    }
    case "reached": case "let_go": {
      const text = kind.what === "let_go" ? t("放行", "let go") : kind.is_held ? t(`${pointName(kind.point)} · 按住`, `${pointName(kind.point)} · held`) : pointName(kind.point);
      const shape = kind.what === "let_go" ? "play" : "point";
      return [symbol(shape, x, y, `filled ${look}`), beside(text, edge, y, lanes)];
    }
    case "stopped": return [button("pause", lane, y), beside(t("暂停 SIGSTOP", "SIGSTOP"), edge, y, lanes, "tl-strong", 20)];
    case "resumed": return [button("play", lane, y), beside(t("恢复 SIGCONT", "SIGCONT"), edge, y, lanes, "tl-strong", 20)];
    case "killed": return [symbol("cross", lane, y, "kill"), beside("kill -9", edge, y, lanes, "tl-strong bad")];
    case "restarted": return [symbol("restart", lane, y, "open"), beside(t("重启", "restart"), edge, y, lanes)];
    case "lease_over": return note("clock", t("租约到期", "lease over"), y, lanes, client);
    case "units_returned": return note("units", t(`${kind.units}件回到库存`, `${kind.units} units return`), y, lanes, client);
    case "failed_over": {
      const redis = xOf(lanes, "redis");
      const text = t("主从切换", "failover");
      return [
        svg("line", { class: "tl-note", x1: lanes.gutter, x2: lanes.width, y1: y, y2: y }),
        symbol("failover", redis, y, "kill open"),
        !lanes.isNarrow && label(text, redis - BESIDE_PX, y - 5, "tl-strong bad", "end"),
        lanes.isNarrow && label(fitted(text, redis - client - 20, "face"), client, y - 5, "tl-strong bad"),
      ];
    }
  }
}

/**
 * Draws a symbol on a disc, readable above a hatched bar.
 * @param {"pause" | "play"} shape
 * @param {number} x
 * @param {number} y
 */
function button(shape, x, y) {
  return svg("g", null, svg("circle", { class: "tl-disc", cx: x, cy: y, r: DISC_PX }), symbol(shape, x, y, "stop filled"));
}

/**
 * Writes a text to the right of a symbol. On narrow drawings the text of the current event stands below.
 * @param {string} text
 * @param {number} edge right edge of the lane
 * @param {number} y
 * @param {Lanes} lanes
 * @param {string} [look]
 * @param {number} [distance]
 */
function beside(text, edge, y, lanes, look = "tl-text", distance = BESIDE_PX) {
  if (lanes.isNarrow) return null;
  const from = edge + distance;
  return label(fitted(text, lanes.width - from, "face"), from, y + 4, look);
}

/**
 * Draws a line across all lanes, with a symbol and a text.
 * @param {"clock" | "units"} shape
 * @param {string} text
 * @param {number} y
 * @param {Lanes} lanes
 * @param {number} x of the symbol
 * @returns {Leaf[]}
 */
function note(shape, text, y, lanes, x) {
  const end = x + BESIDE_PX + widthOf(text, "face") + 4;
  return [
    svg("line", { class: "tl-note", x1: end, x2: lanes.width, y1: y, y2: y }),
    symbol(shape, x, y, "open"),
    label(text, x + BESIDE_PX, y + 4, "tl-strong"),
  ];
}
