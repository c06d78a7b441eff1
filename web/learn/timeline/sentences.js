// Events as sentences.

import { t } from "../../core/language.js";
import { duration } from "../../report/number.js";
import { capital } from "../prose.js";
import { instanceName, pointName, replyName } from "../words.js";
import { meaningOf } from "./meanings.js";
import { nameOf } from "./model.js";

/** @typedef {import("../server.js").StoryEvent} StoryEvent */

/** @param {StoryEvent} event */
export function sentenceOf(event) {
  const { kind, at_us: atUs } = event;
  const who = event.request === null ? t("工作线程", "The worker") : nameOf(event);
  const user = event.user === null ? "" : t(`用户${event.user}`, `user ${event.user}`);
  const where = event.instance === null ? "" : instanceName(event.instance);
  switch (kind.what) {
    case "sent": return t(`${user}发出请求${who}，到${where}。`, `${capital(user)} sends request ${who} to ${where}.`);
    case "replied": return t(`${where}应答${who}：${replyName(kind.reply)}。`, `${capital(where)} responds to ${who}: ${replyName(kind.reply)}.`);
    case "called": return called(kind, who, where, atUs);
    case "reached": return kind.is_held
      ? t(`${who}在${where}到达“${pointName(kind.point)}”，被按住不动。`, `${who} on ${where} reaches “${pointName(kind.point)}” and is held there.`)
      : t(`${who}在${where}到达“${pointName(kind.point)}”。`, `${who} on ${where} reaches “${pointName(kind.point)}”.`);
    case "let_go": return t(`放开${who}，它从“${pointName(kind.point)}”继续。`, `${who} is let go, and continues from “${pointName(kind.point)}”.`);
    case "stopped": return t(`${where}被暂停（SIGSTOP），自己毫不知情。`, `${capital(where)} is stopped (SIGSTOP), and does not notice.`);
    case "resumed": return t(`${where}恢复运行（SIGCONT），以为时间没有过去。`, `${capital(where)} is resumed (SIGCONT), as if no time had passed.`);
    case "killed": return t(`${where}被杀死（kill -9），内存里的一切都没了。`, `${capital(where)} is killed (kill -9), with everything in its memory.`);
    case "restarted": return t(`${where}重新启动。`, `${capital(where)} starts again.`);
    case "lease_over": return t("租约到期：Redis里设过过期时间的锁都没了。", "The lease is over: in Redis, every lock with an expiry is gone.");
    case "failed_over": return t("Redis主节点宕机，缺少最新写入的从节点接替它。", "The Redis master dies, and a replica that lacks its newest writes takes over.");
    case "units_returned": return t(`${kind.units}件回到库存。`, `${kind.units} units are back in stock.`);
  }
}

/**
 * @param {import("../server.js").Call} call
 * @param {string} who
 * @param {string} where
 * @param {number} atUs
 */
function called(call, who, where, atUs) {
  const server = call.server === "redis" ? "Redis" : t("数据库", "the database");
  const meaning = meaningOf(call);
  const took = duration(call.until_us - atUs);
  return t(
    `${who}在${where}请求${server}：\`${call.text}\`，返回\`${call.result}\`${meaning && `（${meaning}）`}，用时${took}。`,
    `${who} on ${where} calls ${server}: \`${call.text}\` returns \`${call.result}\`${meaning && ` (${meaning})`} after ${took}.`);
}
