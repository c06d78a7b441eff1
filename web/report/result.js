// The types of `result.json`, as written by `mallbox bench`. Names of fields are those of the file.

/** The schema that this page knows. */
export const KNOWN_SCHEMA = 1;

/**
 * @typedef {object} Result
 * @property {number} schema
 * @property {string} kind
 * @property {{version: string, commit: string | null}} mallbox
 * @property {string | null} began ISO 8601, UTC
 * @property {number | null} lasted_s
 * @property {string[]} command
 * @property {Record<string, unknown>} settings every flag of the command
 * @property {Machine} machine
 * @property {Latency | null} disk_sync syncs of a 4 KiB write, sampled during the runs
 * @property {System[]} systems
 * @property {Run[]} runs
 * @property {Measurement[]} measurements
 * @property {Queues} queues
 * @property {Feeds} feeds
 * @property {Caches} caches
 * @property {SummaryFigure[]} summary
 * @property {Comparison[]} comparisons
 * @property {{code: string, text: string}[]} warnings
 */
/**
 * Ways to hand orders over: what experiments found, and throughput.
 * @typedef {object} Queues
 * @property {QueueVerdict[]} verdicts
 * @property {QueueSpeed[]} speeds
 */
/**
 * What experiments found on one question about a way.
 * @typedef {object} WayVerdict
 * @property {string} way
 * @property {string} question
 * @property {[string, number][]} verdicts each with its number of repetitions
 * @property {boolean} is_expected
 */
/** @typedef {WayVerdict & {bytes_per_message: number | null}} QueueVerdict */
/**
 * @typedef {object} QueueSpeed
 * @property {string} way
 * @property {string} setting
 * @property {number | null} sent_per_s
 * @property {number | null} received_per_s
 * @property {number | null} p50_us
 * @property {number | null} p99_us
 */
/**
 * Ways to assemble feeds.
 * @typedef {object} Feeds
 * @property {WayVerdict[]} verdicts
 * @property {FeedCost[]} costs
 */
/**
 * @typedef {object} FeedCost
 * @property {string} way
 * @property {number | null} fans
 * @property {number | null} write_us
 * @property {number | null} pages_per_s
 * @property {number | null} page_p50_us
 * @property {number | null} page_p99_us
 * @property {number | null} redis_bytes_per_note
 */
/**
 * Ways to cache reads.
 * @typedef {object} Caches
 * @property {WayVerdict[]} verdicts
 * @property {CacheCost[]} costs
 */
/**
 * @typedef {object} CacheCost
 * @property {string} way
 * @property {number | null} reads_per_s
 * @property {number | null} p50_us
 * @property {number | null} p99_us
 * @property {number | null} loads_per_1000
 */
/**
 * @typedef {object} Machine
 * @property {string | null} cpu
 * @property {number | null} cores
 * @property {number | null} memory_bytes
 * @property {string | null} kernel
 * @property {string | null} os
 * @property {string | null} file_system
 */
/**
 * @typedef {object} System
 * @property {string} id
 * @property {string} name
 * @property {DurabilityClass} class
 * @property {{name: string, version: string | null, settings: string | null}[]} versions
 * @property {boolean} tuned
 */
/**
 * What a system promises. Only systems with the same promises are ranked against each other.
 * @typedef {object} DurabilityClass
 * @property {string} durable `power`, `process`, `memory` or `unknown`
 * @property {boolean | null} one_per_user
 * @property {boolean | null} exactly_once_after_kill
 */
/**
 * @typedef {object} Run
 * @property {string} system id
 * @property {string} workload
 * @property {number | null} round
 * @property {string | null} failure why the run failed
 * @property {{before: number | null, after: number | null} | null} ceiling_per_s a bare handler under the
 * same load
 * @property {{before: number | null, after: number | null} | null} ceiling_cpu_us of the bare handler per
 * request
 * @property {number | null} offered_per_s `null`: closed loop
 * @property {number | null} elapsed_s
 * @property {Answers} answers
 * @property {Rates} rates
 * @property {Latency} latency
 * @property {Cost} cost
 * @property {Books} books
 * @property {TimelinePoint[]} timeline
 * @property {Trial[]} trials
 * @property {Generator} generator
 */
/**
 * @typedef {object} Rates
 * @property {number | null} answered_per_s
 * @property {number | null} accepted_per_s
 * @property {number | null} persisted_per_s
 */
/**
 * @typedef {object} Answers
 * @property {number | null} accepted
 * @property {number | null} sold_out
 * @property {number | null} already_bought
 * @property {number | null} refused
 * @property {number | null} rejected
 * @property {number | null} lost
 */
/**
 * @typedef {object} Latency
 * @property {number | null} count
 * @property {number | null} mean_us
 * @property {[number, number][]} percentiles pairs of a share and µs, ascending
 * @property {string | null} histogram HdrHistogram V2, compressed, base64
 */
/**
 * All server processes together.
 * @typedef {object} Cost
 * @property {number | null} cpu_us_per_operation
 * @property {number | null} cpu_ratio until the last response, to a bare request
 * @property {number | null} cpu_ratio_persisted until the last order is in the database
 * @property {number | null} memory_bytes
 * @property {number | null} written_bytes_per_operation
 * @property {number | null} written_bytes_per_order
 * @property {ProgramCost[]} programs
 */
/**
 * A program's part of the cost.
 * @typedef {object} ProgramCost
 * @property {string} name
 * @property {number | null} cpu_us_per_operation
 * @property {number | null} written_bytes_per_operation
 */
/**
 * @typedef {object} Books
 * @property {boolean | null} balance
 * @property {number | null} oversold
 * @property {number | null} bought_twice
 * @property {number | null} lost_after_kill
 */
/**
 * Counts are cumulative.
 * @typedef {object} TimelinePoint
 * @property {number} at_s
 * @property {number | null} accepted
 * @property {number | null} persisted
 * @property {number | null} pending
 */
/**
 * @typedef {object} Trial
 * @property {number} offered_per_s
 * @property {number | null} achieved_per_s
 * @property {number | null} p50_us
 * @property {number | null} p99_us
 * @property {boolean} met whether the rate was achieved within the latency limit
 */
/**
 * The load generator's own cost and failures.
 * @typedef {object} Generator
 * @property {number | null} cpu_us_per_request
 * @property {number | null} busiest_share
 * @property {number | null} waited
 * @property {number | null} unsent
 * @property {number | null} late
 */
/**
 * @typedef {object} Measurement
 * @property {string} port
 * @property {string} back_end
 * @property {number | null} size buyers, places, …
 * @property {number | null} threads concurrent callers
 * @property {number | null} per_s
 * @property {number | null} p50_us
 * @property {number | null} p99_us
 * @property {number | null} memory_bytes
 * @property {number | null} error share
 * @property {string | null} note
 * @property {boolean} is_failed `note` says why
 */
/**
 * @typedef {object} SummaryFigure
 * @property {string} system id
 * @property {string} workload
 * @property {string} figure
 * @property {number | null} median
 * @property {number | null} low lower end of the bootstrap interval of the median
 * @property {number | null} high
 * @property {number | null} runs
 */
/**
 * @typedef {object} Comparison
 * @property {string} workload
 * @property {string} figure
 * @property {string} a id
 * @property {string} b id
 * @property {number | null} ratio a / b
 * @property {number | null} low
 * @property {number | null} high
 * @property {string} verdict `a`, `b`, `no_difference` or `not_comparable`
 */
