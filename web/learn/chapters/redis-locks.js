// Chapter: locks in Redis.

/** @type {import("./index.js").Chapter} */
export const redisLocks = {
  id: "redis-locks",
  title: { zh: "Redis里的锁", en: "Locks in Redis" },
  lead: {
    zh: "锁要放到所有实例都看得见的地方，于是有了`SETNX`，也有了租约：持有者死了，锁得自己消失。从此多了一个问题：租约到期时，持有者不一定知道。",
    en: "The lock has to be where all instances see it: in Redis, and with a lease, because a dead holder cannot release it. From here on there is a new question: what if the lease ends and the holder does not notice?",
  },
  rungs: [
    ["6", {
      does: {
        zh: "`SETNX`抢锁，成功后再用`PEXPIRE`设过期时间，用完`DEL`。",
        en: "Takes the lock with `SETNX`, sets its expiry with `PEXPIRE`, and deletes it at the end.",
      },
      belief: {
        zh: "两条命令之间只有几百微秒，测试里从来没有断在中间过。",
        en: "Only microseconds lie between the two commands, and no test ever broke off there.",
      },
      price: {
        zh: "死在两条命令之间，锁就永远不过期，这位用户从此再也买不了。释放时它也不看锁是谁的，下一级细说。",
        en: "A process that dies between them leaves a lock without an expiry: this user never buys again. It also deletes whatever lock is there, which is the subject of the next rung.",
      },
    }],
    ["6b", {
      does: {
        zh: "`SET … NX PX`一条命令加锁并设过期，释放时直接`DEL`。",
        en: "Sets lock and expiry with one `SET … NX PX`, and releases with a plain `DEL`.",
      },
      belief: {
        zh: "死锁没有了：持有者死掉，租约到期，锁自己消失。",
        en: "No lock stays for ever: if the holder dies, the lease ends and the lock is gone.",
      },
      price: {
        zh: "释放时不看锁是谁的。自己的租约要是已经到期，删掉的就是下一个人的锁，第三个请求趁机进来。",
        en: "The release does not ask whose lock it is. After the end of its own lease it deletes the lock of the next holder, and a third request walks in.",
      },
    }],
    ["6c", {
      does: {
        zh: "锁的值写成用户ID，释放时用Lua脚本比对，相同才删。",
        en: "Writes the user id into the lock, and deletes the lock by a script that compares the id first.",
      },
      belief: {
        zh: "“只删自己的锁”，看上去正是教程的要求。",
        en: "“Delete only your own lock” is what the tutorials ask for.",
      },
      price: {
        zh: "来抢这把锁的本来就是同一个用户的请求，比对永远相等，等于没比。要标识的是这一次加锁，不是用户。",
        en: "All who compete for this lock are requests of one user, so the comparison is always true. The owner of a lock is the attempt, not the user.",
      },
    }],
    ["7", {
      does: {
        zh: "锁的值换成随机数，释放时先`GET`比对，再`DEL`。",
        en: "Writes a random owner into the lock, compares it with `GET`, and then deletes the lock with `DEL`.",
      },
      belief: {
        zh: "每次加锁都有独一无二的标识，总算认得出自己的锁。",
        en: "Each attempt has an owner of its own and recognises its lock at last.",
      },
      price: {
        zh: "比对和删除是两条命令，租约恰好在中间到期，删的又是别人的锁。窗口很窄，但一次长GC就够了。",
        en: "Compare and delete are two commands. If the lease ends between them, the lock deleted is another one's. The window is narrow; one long garbage collection is enough.",
      },
    }],
    ["8", {
      does: {
        zh: "比对和删除写进一段Lua脚本，由Redis一步执行。",
        en: "Compares and deletes in one script, which Redis executes as one step.",
      },
      belief: {
        zh: "释放这一步从此没有破绽，讲Redis锁的文章大多到此为止。",
        en: "The release is beyond doubt now, and here most articles about locks in Redis end.",
      },
      price: {
        zh: "破绽不在释放，在持有：进程停在检查和写入之间，租约到期，别人进来买完，它醒来接着写。主从切换把锁弄丢，结果也一样。",
        en: "The gap is not in the release but in the holding: a process stops between check and write, its lease ends, somebody else buys, and then it wakes up and writes. A failover that loses the lock has the same result.",
      },
    }],
    ["8b", {
      does: {
        zh: "不分用户，整场秒杀只有一把锁；没抢到就每50毫秒再试一次，最多等半秒。",
        en: "Has one lock for the whole sale. A buyer tries every 50 ms, for half a second at most.",
      },
      belief: {
        zh: "一把大锁最省心，什么并发问题都关在里面。",
        en: "One big lock is simple, and keeps every race out.",
      },
      price: {
        zh: "所有人抢一把锁，又没有先来后到：人一多，多数人还没轮到就被拒绝，货却还在。租约的老问题也一个没少。",
        en: "Everybody wants the same lock, and nobody has a turn: of a crowd, most are refused while units are left. And all problems of the lease remain.",
      },
    }],
  ],
};
