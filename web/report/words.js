// Labels of the codes in `result.json`. Unknown codes are shown as they are.

import { t } from "../core/language.js";

/** @typedef {import("./result.js").DurabilityClass} DurabilityClass */

/** @param {string} kind of a result */
export function kindText(kind) {
  switch (kind) {
    case "sale": return t("秒杀", "Flash sale");
    case "ramp": return t("逐级加压", "Ramp of rates");
    case "load": return t("商城压测", "Load of a mall");
    case "compare": return t("多个系统对比", "Comparison of systems");
    case "ports": return t("存储端口", "Storage ports");
    case "queues": return t("消息队列", "Queues");
    case "feed": return t("Feed流", "Feeds");
    case "cache": return t("缓存", "Caches");
    default: return kind;
  }
}

/** @param {string} workload */
export function workloadText(workload) {
  switch (workload) {
    case "flash sale": return t("秒杀", "flash sale");
    case "sold out": return t("售罄之后", "sold out");
    case "browse": return t("浏览", "browse");
    case "shop": return t("店铺页", "shop");
    case "shops nearby": return t("附近店铺", "shops nearby");
    case "hot notes": return t("热门笔记", "hot notes");
    case "sale page": return t("秒杀页", "sale page");
    case "feed": return t("关注流", "feed");
    case "sign-in morning": return t("早晨签到", "sign-in morning");
    case "mixed day": return t("平常的一天", "mixed day");
    case "ramp": return t("逐级加压", "ramp");
    case "start": return t("启动", "start");
    case "stop": return t("停止", "stop");
    case "ledger check": return t("账目核对", "ledger check");
    case "": return t("未命名", "unnamed");
    default: return workload;
  }
}

/**
 * Returns the figure that stands for a workload.
 * @param {string} workload
 */
export function rateFigure(workload) {
  switch (workload) {
    case "sold out": return "answered_per_s";
    case "ramp": return "highest_met_per_s";
    default: return "accepted_per_s";
  }
}

/**
 * Returns which requests the rate of a workload counts.
 * @param {string} workload
 */
export function rateText(workload) {
  switch (workload) {
    case "sold out": return t("应答", "answered");
    case "ramp": return t("按时应答", "answered in time");
    default: return t("接受", "accepted");
  }
}

/** @param {string} text in English: its first letter becomes a capital */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {string} figure of a summary or comparison */
export function figureText(figure) {
  switch (figure) {
    case "answered_per_s": return t("每秒应答请求数", "answered requests per second");
    case "accepted_per_s": return t("每秒接受请求数", "accepted requests per second");
    case "persisted_per_s": return t("每秒落盘订单数", "persisted orders per second");
    case "highest_met_per_s": return t("按时应答的最高速率", "highest rate in time");
    case "ceiling_share": return t("相对于空处理函数", "share of the bare handler");
    case "p50_us": return t("延迟中位数", "median latency");
    case "p99_us": return t("延迟p99", "latency p99");
    case "p999_us": return t("延迟p99.9", "latency p99.9");
    case "cpu_us_per_operation": return t("每次操作的处理器时间", "CPU time per operation");
    case "cpu_ratio": return t("处理器开销（空处理函数的倍数）", "CPU to a bare request");
    case "cpu_ratio_persisted": return t("直到订单入库的处理器开销（空处理函数的倍数）", "CPU until persisted to a bare request");
    case "memory_bytes": return t("内存", "memory");
    case "written_bytes_per_operation": return t("每次操作写入的字节", "bytes written per operation");
    case "written_bytes_per_order": return t("每笔订单写入的字节", "bytes written per order");
    default: return figure;
  }
}

/**
 * Returns whether a smaller value is the better one: a time, a cost or a size.
 * @param {string} figure
 */
export function isLowerBetter(figure) {
  return figure.includes("_us") || figure.includes("bytes") || figure.startsWith("cpu_ratio");
}

/** @param {string} durable */
function durableText(durable) {
  switch (durable) {
    case "power": return t("断电不丢", "survives power loss");
    case "process": return t("进程崩溃不丢", "survives a process crash");
    case "memory": return t("只在内存", "in memory only");
    case "unknown": return t("持久性未知", "durability unknown");
    default: return durable;
  }
}

/** @param {DurabilityClass} promises */
export function classText(promises) {
  return [
    durableText(promises.durable),
    promises.one_per_user === true && t("每人最多一份", "at most one per user"),
    promises.one_per_user === false && t("不限每人一份", "no limit of one per user"),
    promises.exactly_once_after_kill === true && t("强杀后每单恰好一次", "each order exactly once after a kill"),
    promises.exactly_once_after_kill === false && t("强杀后可能丢单或重复", "orders may be lost or repeated after a kill"),
  ].filter(Boolean).join(t("，", ", "));
}

/**
 * Returns what tells a class from the others of a report: nothing if there is one class, all promises if two
 * classes are equally durable.
 * @param {DurabilityClass} promises
 * @param {{class: DurabilityClass}[]} classes of the report
 */
export function shortClassText(promises, classes) {
  if (classes.length < 2) return "";
  return classes.filter((one) => one.class.durable === promises.durable).length > 1 ? classText(promises) : durableText(promises.durable);
}

/**
 * Returns a workload, and its class if the report has several.
 * @param {string} workload
 * @param {DurabilityClass} promises
 * @param {{class: DurabilityClass}[]} classes of the report
 */
export function placeText(workload, promises, classes) {
  return [workloadText(workload), shortClassText(promises, classes)].filter((part) => part !== "").join(t("，", ", "));
}

/** @param {string} code of a warning */
export function warningText(code) {
  switch (code) {
    case "ceiling_swings": return t("空处理函数的速率前后不一：机器在测试期间不稳定", "The bare handler's rate changed between its measurements: the machine was not steady");
    case "ceiling_cpu_swings": return t("空处理函数的处理器开销前后不一：倍数不可靠", "The CPU of a bare request changed between its measurements: ratios to it are unreliable");
    case "left_out": return t("有系统没有测：缺少程序", "Systems were left out: programs are missing");
    case "system_wrong": return t("有系统出错", "A system did something wrong");
    case "generator_bound": return t("负载发生器是瓶颈：系统可能更快", "The load generator was the limit: the systems may be faster");
    case "generator_starved": return t("负载发生器抢不到处理器：延迟可能偏高", "The load generator lacked CPU time: latencies may be too high");
    default: return code;
  }
}

/** @param {string} name of a port: the part before the colon */
export function portText(name) {
  switch (name) {
    case "claim": return t("抢购", "Claims of a flash sale");
    case "order-log": return t("订单日志", "Order log");
    case "geo": return t("附近商铺", "Places nearby");
    case "sign-ins": return t("签到", "Sign-ins");
    case "visitors": return t("访客统计", "Visitors");
    case "feed": return t("关注流", "Feeds");
    case "likes": return t("点赞", "Likes");
    case "follows": return t("关注与共同关注", "Follows, and follows in common");
    case "votes": return t("点评投票", "Votes");
    case "sessions": return t("会话", "Sessions");
    case "rate-limits": return t("限流", "Rate limits");
    case "ids": return t("唯一编号", "Unique ids");
    case "locks": return t("锁", "Locks");
    case "deadlines": return t("支付期限", "Payment deadlines");
    case "cache": return t("缓存策略", "Cache strategies");
    default: return name;
  }
}

/** @param {string} name of a back end, or commands, which have no translation */
export function backEndText(name) {
  switch (name) {
    case "directory": return t("目录", "directory");
    case "Redis and MySQL": return t("Redis和MySQL", "Redis and MySQL");
    case "both": return t("两种后端", "both");
    default: return name;
  }
}

/** @param {string} name of an operation: the part after the colon */
export function operationText(name) {
  switch (name) {
    case "accepted": return t("抢到", "accepted");
    case "sold out": return t("已售罄", "sold out");
    case "already bought": return t("已买过", "already bought");
    case "hand-out": return t("分发", "hand-out");
    case "acknowledge": return t("确认", "acknowledge");
    case "requeue of a dead consumer": return t("收回失联消费者的订单", "requeue of a dead consumer");
    case "replay": return t("重新分发", "replay");
    case "first ten within 5 km": return t("5公里内最近的十家", "first ten within 5 km");
    case "page 20 within 5 km": return t("5公里内第20页", "page 20 within 5 km");
    case "sign": return t("签到", "sign");
    case "streak": return t("连续签到天数", "streak");
    case "count of a day": return t("一天的签到人数", "count of a day");
    case "record": return t("记录", "record");
    case "count": return t("计数", "count");
    case "page from the inbox": return t("从收件箱读一页", "page from the inbox");
    case "page, pulled from the database": return t("从数据库拉取一页", "page, pulled from the database");
    case "push of a note": return t("推送一篇笔记", "push of a note");
    case "like": return t("点赞", "like");
    case "in common, first page": return t("共同关注的第一页", "in common, first page");
    case "follow": return t("关注", "follow");
    case "vote": return t("投票", "vote");
    case "begin": return t("登录", "begin");
    case "find": return t("查找", "find");
    case "end": return t("退出", "end");
    case "pass": return t("放行判断", "pass");
    case "next": return t("取下一个编号", "next");
    case "acquire and release": return t("获取并释放", "acquire and release");
    case "hand-over": return t("交接", "hand-over");
    case "set": return t("设置期限", "set");
    case "hand out 100 due orders and close them": return t("取出并关闭100个到期订单", "hand out 100 due orders and close them");
    case "no cache": return t("不用缓存", "no cache");
    case "none: cache-aside alone": return t("无保护：只有旁路缓存", "none: cache-aside alone");
    case "null value": return t("缓存空值", "null value");
    case "Bloom filter": return t("布隆过滤器", "Bloom filter");
    case "mutex and null value": return t("互斥锁加空值", "mutex and null value");
    case "logical expiry": return t("逻辑过期", "logical expiry");
    case "two levels, mutex and null value": return t("两级缓存、互斥锁加空值", "two levels, mutex and null value");
    default: return name;
  }
}

/**
 * Splits the name of a measurement into port and operation.
 * @param {string} name `claim: accepted`; without a colon, all is the port
 * @returns {[string, string]}
 */
export function splitPort(name) {
  const at = name.indexOf(": ");
  return at < 0 ? [name, ""] : [name.slice(0, at), name.slice(at + 2)];
}

/** @param {string} name of a measurement */
export function measurementText(name) {
  const [port, operation] = splitPort(name);
  return operation === "" ? portText(port) : t(`${portText(port)}：${operationText(operation)}`, `${portText(port)}: ${operationText(operation)}`);
}

/** @param {string} name of a field of the machine */
export function machineText(name) {
  switch (name) {
    case "cpu": return t("处理器", "CPU");
    case "cores": return t("核心", "Cores");
    case "memory_bytes": return t("内存", "Memory");
    case "kernel": return t("内核", "Kernel");
    case "os": return t("操作系统", "Operating system");
    case "file_system": return t("文件系统", "File system");
    default: return name;
  }
}

/** @param {string} question about a way to hand orders over */
export function questionText(question) {
  switch (question) {
    case "order_of_one": return t("一个消费者时的顺序", "Order, one consumer");
    case "order_of_two": return t("两个消费者时的顺序", "Order, two consumers");
    case "backlog": return t("积压", "Backlog");
    case "sharing": return t("两个消费者如何分", "Two consumers");
    case "replay": return t("回溯", "Replay");
    case "full": return t("满了以后", "When full");
    case "full_length": return t("到达MAXLEN", "At MAXLEN");
    case "killed_at_work": return t("消费者处理中被杀", "Consumer killed at work");
    case "killed_before_ack": return t("消费者确认前被杀", "Consumer killed before its acknowledgement");
    case "broker_without_log": return t("杀死Redis（无AOF）", "Redis killed, no append-only file");
    case "broker_every_second": return t("杀死Redis（everysec）", "Redis killed, everysec");
    case "broker_always": return t("杀死队列（always或默认）", "Broker killed, always or default");
    default: return question;
  }
}

/** @param {string} verdict on a question */
export function queueVerdictText(verdict) {
  switch (verdict) {
    case "kept": return t("保持", "kept");
    case "changed": return t("打乱", "changed");
    case "overtaken": return t("会被超过", "overtaken");
    case "each has all": return t("各收全部", "each has all");
    case "keeps all": return t("全部保留", "keeps all");
    case "one each": return t("每条只给一个", "one each");
    case "all to both": return t("每条都给两个", "all to both");
    case "from any": return t("可从任意位置", "from any position");
    case "none": return t("不能", "none");
    case "refuses": return t("拒绝", "refuses");
    case "waits": return t("等待", "waits");
    case "cuts off": return t("断开订阅者", "cuts the subscriber off");
    case "drops oldest": return t("丢弃最旧的", "drops the oldest");
    case "no bound": return t("没有上限", "no bound");
    case "nothing": return t("不丢不重", "nothing");
    default: return t(
      verdict.replace("loses ", "丢").replace(", repeats ", "，重复").replace("repeats ", "重复").replace("keeps ", "保留"),
      verdict);
  }
}
