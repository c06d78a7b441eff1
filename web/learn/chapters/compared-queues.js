// Chapter: ways to hand orders over, compared.

import { readQueues } from "../../report/read-results.js";
import { queueTables } from "../../report/sections/queues.js";

/** @type {import("./index.js").Chapter} */
export const comparedQueues = {
  id: "compared-queues",
  title: { zh: "消息队列：八条标准", en: "Queues by eight criteria" },
  lead: {
    zh: "秒杀先应答、后写单，中间总要有个队列，而各家教程给出的对比表从来没法验证。这里把十种方式放到同样的处境里：暂停消费者、塞满队列，在处理到一半和确认之前`kill -9`，再数清每一条消息的下落。吞吐、顺序、积压、分配、回溯、上限、杀消费者、杀队列，八条标准，全在你这台机器上测出来。",
    en: "A flash sale replies first and writes the order later, with a queue in between, and tutorials choose that queue by a table that nobody can check. Here ten ways go through the same trouble: a suspended consumer, a full queue, a `kill -9` halfway through the work and just before the acknowledgement, with every message accounted for. Throughput, order, backlog, sharing, replay, bounds, a killed consumer and a killed broker: all eight are measured on your machine.",
  },
  rungs: [],
  comparison: {
    name: "queues",
    about: {
      zh: "约两分钟；会另起三个Redis（AOF的三种设置）和一个MariaDB，结束后全部删除。",
      en: "About two minutes, on a MariaDB and three Redis servers of its own, one per setting of the append-only file; all are removed afterwards.",
    },
    zh: {
      list: "Redis列表：LPUSH、BRPOP",
      blmove: "Redis列表：LPUSH，BLMOVE到消费者自己的列表，做完再LREM",
      "pub-sub": "Redis发布订阅：PUBLISH、SUBSCRIBE",
      stream: "Redis Stream，不用消费组：XADD、XREAD $",
      group: "Redis Stream消费组：XADD、XREADGROUP、XACK、XAUTOCLAIM",
      noack: "Redis Stream消费组，不确认：XADD、XREADGROUP NOACK",
      channel: "进程内的有界通道，即教程里的BlockingQueue",
      "sled-log": "mallbox的订单日志，在目录里（sled），订单写入SQLite",
      "redis-log": "mallbox的订单日志，在Redis里（Stream），订单写入MySQL",
      table: "MySQL表：INSERT、SELECT … FOR UPDATE SKIP LOCKED",
    },
    draw: (section) => queueTables([readQueues(section)]),
  },
};
