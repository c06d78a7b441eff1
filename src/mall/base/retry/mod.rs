//! The retry queue: work made of segments, durable, retried from the segment that failed until done.
//!
//! A [`Work`] names a kind of task and its [`Segment`]s. [`RetryQueue::submit`] stores a task and makes the
//! first try on the caller; [`RetryQueue::submit_all`] stores many tasks and leaves every try to the
//! background job of the kind. After a failed attempt the task waits for the interval of the
//! [`RetryPolicy`]. A segment may run more than once, after a crash between the run and its record: the
//! [key](Attempt::key) of the task is the idempotency key towards others.
//!
//! | event | task |
//! | --- | --- |
//! | a segment passed | its result is stored; the next segment runs, with all attempts |
//! | an attempt failed, timed out or had no result | due after the interval; after the last failed for good |
//! | an attempt is hopeless, or the task too old | failed for good at once |
//! | the [breaker] of the segment is open | waits, and spends no attempt |
//! | the process died | another instance, or the next start, continues after the lease of a minute |
//!
//! Reasons and figures: `src/decisions/0053-retry-queue.md`.

pub mod breaker;
mod kind;
mod metrics;
mod policy;
mod queue;
mod run;
mod work;
mod worker;

pub use metrics::{BreakerMetrics, RetryMetrics};
pub use policy::RetryPolicy;
pub use queue::{FirstTry, Queued, RetryQueue, Submission};
pub use work::{Attempt, Segment, SegmentOutcome, Work};
