// Chapter: locks inside one process.

/** @type {import("./index.js").Chapter} */
export const processLocks = {
  id: "process-locks",
  title: { zh: "进程内的锁", en: "Locks inside one process" },
  lead: {
    zh: "要守住一人一单，就得让同一用户的请求排队。最先想到的是进程内的锁：位置放错一点不行，多一个进程也不行。",
    en: "One unit per user means that requests of one user have to queue. The obvious tool is a lock inside the process. It fails if it stands one line too far inside, and it fails with a second process.",
  },
  rungs: [
    ["3", {
      does: {
        zh: "按用户加锁，锁写在事务方法里面：开事务，加锁，检查，写入，解锁，最后提交。",
        en: "Locks by user, inside the transaction: begin, lock, check, write, unlock, and commit at the end.",
      },
      belief: {
        zh: "`@Transactional`方法里写一段`synchronized`就是这个样子，检查和写入明明都在锁里。",
        en: "This is what a `synchronized` block in a `@Transactional` method does; check and write are both inside the lock.",
      },
      price: {
        zh: "解锁早于提交。下一个请求拿到锁时，前一张订单还没提交，查不到，于是又买一次。",
        en: "The lock is free before the order is committed. The next request of the user enters, does not see the order, and buys again.",
      },
    }],
    ["4", {
      does: {
        zh: "把锁移到事务外面：加锁，检查，写入，提交，最后才解锁。",
        en: "Moves the lock outside: lock, check, write, commit, and only then unlock.",
      },
      belief: {
        zh: "同一用户的下一个请求一定看得见上一张订单，不同用户又互不影响。",
        en: "The next request of the user is certain to see the order, and different users do not wait for each other.",
      },
      price: {
        zh: "只有一个进程时，这就是正确答案，每种触发条件它都通过。它只靠一个前提：真的只有一个进程。",
        en: "With one process this is right, and it passes under every trigger. It rests on one assumption: that there is one process.",
      },
    }],
    ["5", {
      does: {
        zh: "代码一个字没改，只是部署了两个实例。",
        en: "Changes not a letter of the code, and deploys a second instance.",
      },
      belief: {
        zh: "负载均衡后面再加一台机器，谁会想到要改锁？",
        en: "Another machine behind the load balancer: who would think of the lock?",
      },
      price: {
        zh: "每个进程各有一张锁表。同一用户的两个请求落到两个实例，各自拿到一把“唯一”的锁，各买一件。",
        en: "Each process has a lock table of its own. Two requests of a user reach two instances, and each gets “the” lock and buys.",
      },
    }],
  ],
};
