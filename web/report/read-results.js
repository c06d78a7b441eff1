// Reads results. A missing or mistyped value becomes `null` or an empty list, so that one bad value costs no
// more than itself.

/** @typedef {Record<string, unknown>} Fields */
/** @typedef {import("./result.js").Result} Result */
/** @typedef {import("./result.js").Latency} Latency */
/** @typedef {import("./result.js").Run} Run */
/** @typedef {import("./result.js").System} System */

/**
 * @param {string} json a result or a list of results
 * @returns {Result[]}
 */
export function readResults(json) {
  const parsed = JSON.parse(json);
  return list(Array.isArray(parsed) ? parsed : [parsed], result);
}

/**
 * @param {Fields} from
 * @returns {Result}
 */
function result(from) {
  const mallbox = fields(from.mallbox);
  return {
    schema: number(from.schema) ?? 1,
    kind: string(from.kind) ?? "",
    mallbox: { version: string(mallbox.version) ?? "", commit: string(mallbox.commit) },
    began: string(from.began),
    lasted_s: number(from.lasted_s),
    command: Array.isArray(from.command) ? from.command.filter((word) => typeof word === "string") : [],
    settings: fields(from.settings),
    machine: machine(fields(from.machine)),
    disk_sync: from.disk_sync ? latency(fields(from.disk_sync)) : null,
    systems: list(from.systems, system),
    runs: list(from.runs, run),
    measurements: list(from.measurements, measurement),
    queues: readQueues(from.queues),
    feeds: readFeeds(from.feeds),
    caches: readCaches(from.caches),
    summary: list(from.summary, summaryFigure),
    comparisons: list(from.comparisons, comparison),
    warnings: list(from.warnings, warning),
  };
}

/** @param {Fields} from */
function machine(from) {
  return {
    cpu: string(from.cpu),
    cores: number(from.cores),
    memory_bytes: number(from.memory_bytes),
    kernel: string(from.kernel),
    os: string(from.os),
    file_system: string(from.file_system),
  };
}

/**
 * @param {Fields} from
 * @returns {System | null}
 */
function system(from) {
  const id = string(from.id);
  return id === null ? null : readSystem(id, from);
}

/**
 * @param {string} id
 * @param {Fields} from
 * @returns {System}
 */
export function readSystem(id, from) {
  const promises = fields(from.class);
  return {
    id,
    name: string(from.name) ?? id,
    class: {
      durable: string(promises.durable) ?? "unknown",
      one_per_user: boolean(promises.one_per_user),
      exactly_once_after_kill: boolean(promises.exactly_once_after_kill),
    },
    versions: list(from.versions, (version) => ({
      name: string(version.name) ?? "", version: string(version.version), settings: string(version.settings),
    })),
    tuned: boolean(from.tuned) ?? false,
  };
}

/**
 * @param {Fields} from
 * @returns {Run | null}
 */
function run(from) {
  const system = string(from.system);
  if (system === null) return null;
  const [answers, rates, cost, books, generator] = [from.answers, from.rates, from.cost, from.books, from.generator].map(fields);
  return {
    system,
    workload: string(from.workload) ?? "",
    round: number(from.round),
    failure: string(from.failure),
    ceiling_per_s: aroundRun(from.ceiling_per_s),
    ceiling_cpu_us: aroundRun(from.ceiling_cpu_us),
    offered_per_s: number(from.offered_per_s),
    elapsed_s: number(from.elapsed_s),
    answers: {
      accepted: number(answers.accepted), sold_out: number(answers.sold_out), already_bought: number(answers.already_bought),
      refused: number(answers.refused), rejected: number(answers.rejected), lost: number(answers.lost),
    },
    rates: {
      answered_per_s: number(rates.answered_per_s), accepted_per_s: number(rates.accepted_per_s), persisted_per_s: number(rates.persisted_per_s),
    },
    latency: latency(fields(from.latency)),
    cost: {
      cpu_us_per_operation: number(cost.cpu_us_per_operation), memory_bytes: number(cost.memory_bytes),
      cpu_ratio: number(cost.cpu_ratio), cpu_ratio_persisted: number(cost.cpu_ratio_persisted),
      written_bytes_per_operation: number(cost.written_bytes_per_operation), written_bytes_per_order: number(cost.written_bytes_per_order),
      programs: list(cost.programs, programCost),
    },
    books: {
      balance: boolean(books.balance), oversold: number(books.oversold),
      bought_twice: number(books.bought_twice), lost_after_kill: number(books.lost_after_kill),
    },
    timeline: list(from.timeline, (point) => {
      const at = number(point.at_s);
      return at === null ? null : { at_s: at, accepted: number(point.accepted), persisted: number(point.persisted), pending: number(point.pending) };
    }).sort((a, b) => a.at_s - b.at_s),
    trials: list(from.trials, trial),
    generator: {
      cpu_us_per_request: number(generator.cpu_us_per_request), busiest_share: number(generator.busiest_share),
      waited: number(generator.waited), unsent: number(generator.unsent), late: number(generator.late),
    },
  };
}

/**
 * Reads a figure measured before and after a run.
 * @param {unknown} value
 */
function aroundRun(value) {
  const { before, after } = fields(value);
  return value ? { before: number(before), after: number(after) } : null;
}

/** @param {Fields} from */
function programCost(from) {
  const name = string(from.name);
  return name === null ? null : {
    name, cpu_us_per_operation: number(from.cpu_us_per_operation), written_bytes_per_operation: number(from.written_bytes_per_operation),
  };
}

/** @param {Fields} from */
function trial(from) {
  const offered = number(from.offered_per_s);
  if (offered === null) return null;
  return {
    offered_per_s: offered,
    achieved_per_s: number(from.achieved_per_s),
    p50_us: number(from.p50_us),
    p99_us: number(from.p99_us),
    met: boolean(from.met) ?? false,
  };
}

/**
 * @param {Fields} from
 * @returns {Latency}
 */
function latency(from) {
  const pairs = Array.isArray(from.percentiles) ? from.percentiles : [];
  return {
    count: number(from.count),
    mean_us: number(from.mean_us),
    percentiles: pairs.flatMap((pair) => {
      const [share, us] = Array.isArray(pair) ? pair.map(number) : [null, null];
      return typeof share === "number" && typeof us === "number" ? [/** @type {[number, number]} */ ([share, us])] : [];
    }).sort(([a], [b]) => a - b),
    histogram: string(from.histogram),
  };
}

/** @param {Fields} from */
function measurement(from) {
  const port = string(from.port);
  return port === null ? null : {
    port,
    back_end: string(from.back_end) ?? "",
    size: number(from.size),
    threads: number(from.threads),
    per_s: number(from.per_s),
    p50_us: number(from.p50_us),
    p99_us: number(from.p99_us),
    memory_bytes: number(from.memory_bytes),
    error: number(from.error),
    note: string(from.note),
    is_failed: boolean(from.is_failed) ?? false,
  };
}

/**
 * @param {unknown} section
 * @returns {import("./result.js").Queues}
 */
export function readQueues(section) {
  const from = fields(section);
  return {
    verdicts: list(from.verdicts, (verdict) => ({ ...wayVerdict(verdict), bytes_per_message: number(verdict.bytes_per_message) })),
    speeds: list(from.speeds, (speed) => ({
      way: string(speed.way) ?? "",
      setting: string(speed.setting) ?? "",
      sent_per_s: number(speed.sent_per_s),
      received_per_s: number(speed.received_per_s),
      p50_us: number(speed.p50_us),
      p99_us: number(speed.p99_us),
    })),
  };
}

/**
 * @param {unknown} section
 * @returns {import("./result.js").Feeds}
 */
export function readFeeds(section) {
  const from = fields(section);
  return {
    verdicts: list(from.verdicts, wayVerdict),
    costs: list(from.costs, (cost) => ({
      way: string(cost.way) ?? "",
      fans: number(cost.fans),
      write_us: number(cost.write_us),
      pages_per_s: number(cost.pages_per_s),
      page_p50_us: number(cost.page_p50_us),
      page_p99_us: number(cost.page_p99_us),
      redis_bytes_per_note: number(cost.redis_bytes_per_note),
    })),
  };
}

/**
 * @param {unknown} section
 * @returns {import("./result.js").Caches}
 */
export function readCaches(section) {
  const from = fields(section);
  return {
    verdicts: list(from.verdicts, wayVerdict),
    costs: list(from.costs, (cost) => ({
      way: string(cost.way) ?? "",
      reads_per_s: number(cost.reads_per_s),
      p50_us: number(cost.p50_us),
      p99_us: number(cost.p99_us),
      loads_per_1000: number(cost.loads_per_1000),
    })),
  };
}

/**
 * @param {Fields} verdict
 * @returns {import("./result.js").WayVerdict}
 */
function wayVerdict(verdict) {
  return {
    way: string(verdict.way) ?? "",
    question: string(verdict.question) ?? "",
    verdicts: Object.entries(fields(verdict.verdicts)).map(([words, count]) => [words, number(count) ?? 0]),
    is_expected: boolean(verdict.is_expected) ?? false,
  };
}

/** @param {Fields} from */
function summaryFigure(from) {
  return {
    system: string(from.system) ?? "",
    workload: string(from.workload) ?? "",
    figure: string(from.figure) ?? "",
    median: number(from.median),
    low: number(from.low),
    high: number(from.high),
    runs: number(from.runs),
  };
}

/** @param {Fields} from */
function comparison(from) {
  return {
    workload: string(from.workload) ?? "",
    figure: string(from.figure) ?? "",
    a: string(from.a) ?? "",
    b: string(from.b) ?? "",
    ratio: number(from.ratio),
    low: number(from.low),
    high: number(from.high),
    verdict: string(from.verdict) ?? "",
  };
}

/** @param {Fields} from */
function warning(from) {
  const [code, text] = [string(from.code) ?? "", string(from.text) ?? ""];
  return code + text === "" ? null : { code, text };
}

/**
 * Reads each object of a list; entries that are no objects, or of which nothing can be read, are left out.
 * @template Item
 * @param {unknown} value
 * @param {(from: Fields) => Item | null} read
 * @returns {Item[]}
 */
function list(value, read) {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const entry = typeof item === "object" && item !== null ? read(item) : null;
    return entry === null ? [] : [entry];
  });
}

/**
 * @param {unknown} value
 * @returns {Fields}
 */
function fields(value) {
  return typeof value === "object" && value !== null ? /** @type {Fields} */ (value) : {};
}

/** @param {unknown} value */
function number(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** @param {unknown} value */
function string(value) {
  return typeof value === "string" && value !== "" ? value : null;
}

/** @param {unknown} value */
function boolean(value) {
  return typeof value === "boolean" ? value : null;
}
