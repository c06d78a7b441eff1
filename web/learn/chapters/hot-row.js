// Chapter: the hot row, and mallbox on both of its back ends.

/** @type {import("./index.js").Chapter} */
export const hotRow = {
  id: "hot-row",
  title: { zh: "热点行与mallbox", en: "The hot row, and mallbox" },
  lead: {
    zh: "到这里规律已经清楚：裁决必须是一步，答应过的必须先存好，最后写的地方要能说“不”。剩下的是速度，以及存储自己失忆时怎么办。",
    en: "By now the rules are clear: decide in one step, store before you promise, and let the last store be able to say no. What remains is speed, and what to do when a store itself forgets.",
  },
  rungs: [
    ["12", {
      does: {
        zh: "买家靠唯一键`buyers(user)`裁决；库存拆成八行，按用户错开，自己的桶空了再试别的，全在一个事务里。",
        en: "A unique key on `buyers(user)` decides about the buyer, and the stock is spread over eight rows: each user begins at another bucket and tries all of them, in one transaction.",
      },
      belief: {
        zh: "一行库存只有一条队伍，八行就有八条；一人一单由数据库一步裁决，不需要任何锁服务。",
        en: "One row is one queue, eight rows are eight; and the database decides about the buyer in one step, without a lock service.",
      },
      price: {
        zh: "每种触发条件它都通过，也比一行库存快。代价是抢购的流量全压在数据库上，售罄之后每个请求还要试遍八个桶，剩余件数要求和才知道。",
        en: "It passes under every trigger, and is faster than one row. The price: all traffic of the sale hits the database, a request after the sell-out tries all eight buckets, and the units left are a sum.",
      },
    }],
    ["13", {
      does: {
        zh: "mallbox单进程，数据在一个目录里：在买家所在分片的锁内一步完成查重、扣库存、登记买家、加入日志的当前批次，日志落盘之后才应答。",
        en: "mallbox as one process with one directory. Under the lock of the buyer's shard it checks the buyer, takes a unit, notes the buyer and joins the open group of the journal; it responds after the journal is on the disk.",
      },
      belief: {
        zh: "裁决在内存里；日志线程把攒下的抢购合成一批，一次`fdatasync`（group commit）；工作线程再成批写进SQLite，那里的唯一键是第二道锁。",
        en: "The decision is made in memory. The journal writes all claims gathered meanwhile with one `fdatasync`, a group commit. Workers write orders to SQLite in batches, where a unique key is the second lock.",
      },
      price: {
        zh: "代价是只能有一个进程：这台机器停了，商城就停了。每次应答都要等一次落盘，延迟看磁盘。",
        en: "The price is that there is one process: if its machine is down, so is the mall. Each response waits for a sync, so latency is the disk's.",
      },
    }],
    ["14", {
      does: {
        zh: "mallbox用Redis和MySQL，部署两个实例：一段脚本一步完成全部裁决，并把抢购追加到Redis Stream；工作线程写进MySQL之后才结算。",
        en: "mallbox on Redis and MySQL, with two instances. One script decides everything and appends the claim to a Redis stream; workers settle a claim after its order is in MySQL.",
      },
      belief: {
        zh: "Redis每次重启或切换都是一个新纪元（epoch），MySQL记着只有哪台服务器算数：其他服务器上的脚本不生效，新服务器先从日志和MySQL恢复库存，再开放抢购。MySQL的唯一键限制每人的订单。",
        en: "Each start and each failover of Redis is a new epoch. MySQL records the one server that counts: scripts do nothing on any other, and a new one is loaded from its log and MySQL before it takes claims. A unique key in MySQL bounds the orders of a user.",
      },
      price: {
        zh: "不会超卖，也不会重复购买；但应答有多可靠，要看Redis的`appendfsync`和复制。主从切换时，从节点没收到、也还没写进MySQL的抢购会整条丢失，这一级在“主从切换”下预期就是丢单。",
        en: "It does not oversell, and nobody buys twice. But a response is as durable as Redis, by `appendfsync` and replication: a failover loses claims that neither the replica nor MySQL had. Under a failover this rung is expected to lose orders.",
      },
    }],
  ],
};
