// Chapter: locks that are good, and still not enough.

/** @type {import("./index.js").Chapter} */
export const goodLocks = {
  id: "good-locks",
  title: { zh: "好锁也不够", en: "Good locks, and still not enough" },
  lead: {
    zh: "看门狗、联锁、数据库自带的锁，都是认真做出来的。能不能挡住被暂停的持有者，只看一件事：最后写数据的地方认不认这把锁。",
    en: "Watchdogs, locks on several servers, locks of the database: all well made. Whether they keep out a holder that was stopped depends on one thing: does the store that takes the write know of the lock?",
  },
  rungs: [
    ["9", {
      does: {
        zh: "可重入锁：哈希里记持有者和重入次数，看门狗每过三分之一租约续期一次，释放时用发布订阅叫醒等待者，和Redisson的做法一样。",
        en: "A reentrant lock as in Redisson: a hash counts the entries of its owner, a watchdog renews the lease every third of its length, and a message wakes those who wait.",
      },
      belief: {
        zh: "业务再慢也不怕到期，等待的人也不用空转。",
        en: "However slow the work, the lease does not end, and nobody spins.",
      },
      price: {
        zh: "看门狗和业务在同一个进程里：进程一停，看门狗也停，租约照样到期，醒来照样写。而且锁只在一台Redis上，主从切换就没了。",
        en: "The watchdog lives in the process that it guards: if the process stops, so does the watchdog, the lease ends, and the holder wakes up and writes. And the lock is on one Redis: a failover forgets it.",
      },
    }],
    ["9b", {
      does: {
        zh: "在三台互相独立的Redis主节点上同时加锁，全部成功才算拿到。",
        en: "Takes the lock on three independent Redis masters, all or none.",
      },
      belief: {
        zh: "一台切换到缺数据的从节点也不要紧，另外两台还记得持有者。",
        en: "If one fails over to a replica that lacks the lock, the other two still know the holder.",
      },
      price: {
        zh: "主从切换确实挡住了；代价是往返翻了几倍，而且任何一台不可用，谁都买不了。租约还是租约：被暂停的持有者过期之后照样写。",
        en: "It does survive the failover, at the price of several round trips, and if one server is down nobody buys. The lease is still a lease: a holder that was stopped writes after its end.",
      },
    }],
    ["9c", {
      does: {
        zh: "用MySQL的`GET_LOCK`加锁。锁属于数据库连接，没有租约。",
        en: "Uses `GET_LOCK` of MySQL. The lock belongs to a connection and has no lease.",
      },
      belief: {
        zh: "进程死了，连接断开，锁随之释放；进程只是停住，连接还在，锁也还在。",
        en: "If the process dies, the connection ends and the lock is free; if it only stops, the connection stays and so does the lock.",
      },
      price: {
        zh: "每种触发条件它都通过。代价是连接：每个等待者占着一条，持有者停多久别人就等多久，5秒后只能放弃；机器断电时，服务器还要等到TCP超时才知道。",
        en: "It passes under every trigger. The price is connections: each waiter occupies one, for as long as the holder is stopped, and gives up after 5 s. If the holder's machine loses power, the server learns of it by a TCP timeout only.",
      },
    }],
    ["9d", {
      does: {
        zh: "每个用户一行，在事务里`SELECT … FOR UPDATE`锁住它，再检查、扣库存、插订单、提交。",
        en: "Locks a row of the user with `SELECT … FOR UPDATE`, and checks, takes and inserts in the same transaction.",
      },
      belief: {
        zh: "锁和数据在同一个事务里：提交之前锁不会没，锁没了就不可能再提交。",
        en: "Lock and data share a transaction: the lock cannot end before the commit, and without the lock there is no commit.",
      },
      price: {
        zh: "每种触发条件它都通过。代价是每个等待的请求都占着一个事务和一条连接，而库存仍是一行，热门商品还得一件一件地更新。",
        en: "It passes under every trigger. Each waiting request occupies a transaction and a connection, and the stock is still one row, which a popular sale updates one by one.",
      },
    }],
    ["9e", {
      does: {
        zh: "每次加锁同时领一个递增的令牌（fencing token）；数据库记住每个用户最新的令牌，在写订单的事务里拒绝旧令牌。",
        en: "Draws a growing number with each lock, a fencing token. The database stores the newest token of each user, and refuses older ones in the transaction that writes the order.",
      },
      belief: {
        zh: "既然锁会过期，就让存数据的地方识别过期的持有者，这是Martin Kleppmann的建议。",
        en: "If locks can expire, let the store recognise the expired holder: the advice of Martin Kleppmann.",
      },
      price: {
        zh: "租约锁里只有它扛住了全部触发条件，但真正把关的是数据库那张表。令牌由Redis计数，切换后会倒退：不会卖错，只是用户要等计数追上来才能再买。既然裁决在数据库，锁剩下的作用只是减少争抢。",
        en: "The only lock with a lease that passes under every trigger, and the guard is a table of the database. Redis counts the tokens, and a failover may set them back: that is safe, but such a user is refused until the count has caught up. If the database decides anyway, the lock merely reduces contention.",
      },
    }],
  ],
};
