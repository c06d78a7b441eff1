// Chapter: counters in Redis.

/** @type {import("./index.js").Chapter} */
export const counters = {
  id: "counters",
  title: { zh: "Redis计数器", en: "Counters in Redis" },
  lead: {
    zh: "最容易想到的做法：库存放进Redis，卖一件减一。单条命令确实是原子的；可判断和扣减一旦分成两步，或者Redis和数据库各记一半，原子性就不在你手里了。",
    en: "The first idea of most people: keep the stock in Redis and count down. Each command is atomic. The sale is not, once a decision takes two commands, or its result lives in two stores.",
  },
  rungs: [
    ["0", {
      does: {
        zh: "先`GET stock`看有没有货，再`DECR stock`扣一件，最后往数据库插入订单。",
        en: "Reads the stock with `GET`, takes a unit with `DECR`, then inserts the order into the database.",
      },
      belief: {
        zh: "Redis单线程执行命令，很多人因此认定“用了Redis就不会超卖”。",
        en: "Redis executes one command at a time, so people conclude that Redis cannot oversell.",
      },
      price: {
        zh: "一次执行一条命令，不等于一次服务一个买家：只剩一件时，三个请求都读到1，三个都去减。一人一单同样是先查后写；进程死在`DECR`和`INSERT`之间，这件货就谁也买不到了。",
        en: "One command at a time is not one buyer at a time: all who read the last unit before the first `DECR` get one. The check for an earlier order is just as early, and a process that dies between `DECR` and `INSERT` leaves a unit that nobody can buy.",
      },
    }],
    ["0b", {
      does: {
        zh: "不再先读，直接`DECR`，结果小于零就返回“售罄”。",
        en: "Does not read first: `DECR` decides, and a result below zero means sold out.",
      },
      belief: {
        zh: "`DECR`的返回值没有两个人是一样的，每件货只发给一个人，库存确实卖不超。",
        en: "No two buyers get the same result of `DECR`, so each unit goes to one buyer and the stock holds.",
      },
      price: {
        zh: "被拒绝的请求也减了数，计数器一路减成负数；之后退回的货先拿去填坑，有货也卖不出去。它只数件数，不认人：同一用户的三个请求各领一件。计数器又只活在Redis里，主从切换一倒退，照样超卖。",
        en: "Refused requests count too, so the counter sinks below zero, and units that return later only fill the hole. It counts units, not people: three requests of one user take three. And the counter lives in Redis alone: a failover sets it back, and the sale oversells after all.",
      },
    }],
  ],
};
