// Chapter: the database alone.

/** @type {import("./index.js").Chapter} */
export const database = {
  id: "database",
  title: { zh: "只靠数据库", en: "The database alone" },
  lead: {
    zh: "几乎每篇教程都从这里开始：查库存、判断、写回去。数据库有事务，但事务不会替你把“先查后写”变成一步。",
    en: "Where nearly every tutorial begins: read the stock, decide, write. The database has transactions, but a transaction does not turn a check and a later write into one step.",
  },
  rungs: [
    ["1", {
      does: {
        zh: "查订单、查库存，都没问题就开事务：库存减一，插入订单。",
        en: "Checks orders and stock, then opens a transaction that takes a unit and inserts the order.",
      },
      belief: {
        zh: "每句SQL都没错，写入还放在事务里，单个用户怎么点都正常。",
        en: "Each statement is right, the writes are in a transaction, and one person clicking finds no fault.",
      },
      price: {
        zh: "检查在事务外面，并发请求看到的是同一份旧数据：既超卖，又重复购买。进程被杀反而没事，未提交的事务会回滚。",
        en: "The checks are outside the transaction, and concurrent requests all see the same old numbers: the sale oversells, and users buy twice. A killed process does no harm: its transaction is rolled back.",
      },
    }],
    ["1b", {
      does: {
        zh: "整个下单过程套一把进程内的互斥锁，相当于单例Bean上的`synchronized`方法。",
        en: "Wraps the whole purchase in one mutex of the process, like a `synchronized` method of a singleton.",
      },
      belief: {
        zh: "任何时刻只有一个请求在检查和写入，上一级的错误全部消失。",
        en: "Only one request at a time checks and writes, and all failures of the rung before are gone.",
      },
      price: {
        zh: "只有一个进程时它是对的，代价是慢：所有买家排成一队，每人都要等一次事务提交落盘。再加一个进程，就又回到没有锁的时候。",
        en: "Right with one process, and slow: all buyers stand in one queue, and each waits for a commit to reach the disk. With a second process there is no lock again.",
      },
    }],
    ["1c", {
      does: {
        zh: "读出版本号，更新时带上`WHERE version = ?`；版本变了，就算没抢到。",
        en: "Reads a version number and updates `WHERE version = ?`. If the version has changed, the buyer is out.",
      },
      belief: {
        zh: "不加锁也不会超卖，“乐观锁”听上去又快又安全。",
        en: "No lock and no overselling: “optimistic locking” sounds both fast and safe.",
      },
      price: {
        zh: "它把“有人抢先”当成了“没货”：一批人同时来，只有一个成功，其余的在还有货时就被拒绝。重试可以补救，但每一轮仍只有一个成功，争抢越激烈越慢。",
        en: "It takes “somebody was faster” for “nothing is left”: of a crowd, one buys and all others are refused while units remain. Retries help, but each round has one winner: the hotter the sale, the slower.",
      },
    }],
    ["2", {
      does: {
        zh: "改成`UPDATE … SET stock = stock - 1 WHERE stock > 0`，由数据库在更新的那一刻判断库存。",
        en: "Lets the database decide while it writes: `UPDATE … SET stock = stock - 1 WHERE stock > 0`.",
      },
      belief: {
        zh: "行锁让更新一个接一个，库存绝不会减成负数；不少教程到这里就宣布“超卖解决”。",
        en: "The row lock puts updates in line and the stock never sinks below zero. Many tutorials declare the problem solved here.",
      },
      price: {
        zh: "库存有这句SQL把关，人却没有：查订单和插订单还是两步，同一用户的并发请求会一起通过检查，一起买到。",
        en: "The statement guards the stock, but nothing guards the buyer: check and insert of the order are still two steps, and concurrent requests of one user pass the check together.",
      },
    }],
  ],
};
