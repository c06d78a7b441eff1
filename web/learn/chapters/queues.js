// Chapter: queues and messages.

/** @type {import("./index.js").Chapter} */
export const queues = {
  id: "queues",
  title: { zh: "队列与消息", en: "Queues and messages" },
  lead: {
    zh: "换个思路：一段Lua脚本在Redis里一步裁决库存和买家，订单留给后台慢慢写。接口快了很多，问题也换了：已经答应用户的订单，会不会丢，会不会写两遍？",
    en: "Another approach: one script in Redis decides about stock and buyer in one step, and orders are written later. Responses become fast, and the question changes: can an order that was promised get lost, or be written twice?",
  },
  rungs: [
    ["10", {
      does: {
        zh: "脚本一步完成查重、扣库存、登记买家；订单放进进程内存的阻塞队列，后台线程写库。",
        en: "A script checks the buyer, takes a unit and notes the buyer in one step. A queue in memory carries the order to a worker.",
      },
      belief: {
        zh: "几毫秒就能应答，压测数字非常好看。",
        en: "It responds within milliseconds, and its benchmark is a joy.",
      },
      price: {
        zh: "答应过的订单只存在于这个进程的内存里：`kill -9`之后，队列里的全没了，Redis的库存却已经扣掉。",
        en: "The accepted orders are in the memory of one process: after `kill -9` all that were queued are gone, and Redis has counted their units.",
      },
    }],
    ["11", {
      does: {
        zh: "同一段脚本里再`XADD`一条消息；消费组的工作线程写完订单才`XACK`，重启后先处理自己没确认的消息。",
        en: "The script also appends a message with `XADD`. Workers of a consumer group acknowledge what they have written, and begin with what they left unacknowledged.",
      },
      belief: {
        zh: "扣库存和发消息是同一步，消息存在Redis里，进程死了也不丢；重复投递靠订单号去重。",
        en: "Unit and message are one step, Redis keeps the message when a process dies, and the order id detects a second delivery.",
      },
      price: {
        zh: "进程被杀它扛住了。主从切换时，从节点没收到的消息和库存一起消失，已答应的订单就丢了；订单号也由Redis计数，倒退后新订单撞上旧号，被当成重复投递丢掉。",
        en: "It survives the kill. A failover takes the messages that the replica lacks, and accepted orders are lost. Redis counts the order ids as well: set back, it gives taken ids to new orders, which are then dropped as repetitions.",
      },
    }],
    ["11b", {
      does: {
        zh: "脚本扣库存，应用往MySQL的消息表插一行；定时任务反复投递，直到工作线程写完订单。去重表和订单在同一个事务里。",
        en: "The script takes a unit, and a row in a message table of MySQL carries the order. A job sends it again until a worker has written the order, with a table of done messages in the same transaction.",
      },
      belief: {
        zh: "本地消息表加幂等消费，讲消息可靠性的标准答案。",
        en: "Outbox table and idempotent consumer: the standard answer to reliable messages.",
      },
      price: {
        zh: "答应过的都在MySQL里，工作线程被杀，不丢也不重。但裁决仍在Redis：主从切换后库存倒退，就会多卖；应答要等一次写库，落库靠轮询，两头都慢了。",
        en: "What was accepted is in MySQL: a killed worker neither loses nor repeats an order. But Redis still decides: a failover sets the stock back, and the sale oversells. Responses wait for a write to the database, and orders for a poll: both are slower.",
      },
    }],
    ["11c", {
      does: {
        zh: "和上一级一样，只是省掉了去重表。",
        en: "The rung before, without the table of done messages.",
      },
      belief: {
        zh: "“消息一般不会重复”，少一张表，少一次写入。",
        en: "“Messages hardly ever arrive twice”, and a table and a write are saved.",
      },
      price: {
        zh: "工作线程提交了订单，还没标记消息就被杀；重启后消息再投递一次，同一个用户得到两张订单。至少投递一次，就必须幂等消费。",
        en: "A worker dies after the commit and before it marks the message. The message comes again, and the user has two orders. At-least-once delivery needs an idempotent consumer.",
      },
    }],
  ],
};
