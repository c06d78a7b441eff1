//! Tasks of the retry queue: work in segments, retried until done.
//!
//! Reasons and figures: `storage/decisions/0029-retry-tasks.md`.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{RetryTaskId, StoreError, Timestamp};

/// A task to store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRetryTask {
    /// Idempotency key, unique within the kind among stored tasks; up to [`KEY_MAX`](Self::KEY_MAX) bytes.
    pub key: String,
    /// Tasks of one group and kind run one after the other, in order of submission; as long as a key.
    pub group: Option<String>,
    /// Input of the work, up to [`BYTES_MAX`](Self::BYTES_MAX).
    pub payload: Arc<[u8]>,
    /// Earliest time of the first attempt.
    pub due: Timestamp,
    /// Leases the task to the caller until this instant, unless an older open task of the group exists.
    pub lease_until: Option<Timestamp>,
}

impl NewRetryTask {
    /// Longest kind, in bytes.
    pub const KIND_MAX: usize = 32;
    /// Longest key and longest group, in bytes.
    pub const KEY_MAX: usize = 128;
    /// Largest payload, and largest result of a segment.
    pub const BYTES_MAX: usize = 64 << 10;
    /// Longest stored error, in characters. Longer errors are cut.
    pub const ERROR_MAX: usize = 240;
}

/// Limits on the open tasks of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RetryLimits {
    /// Maximum number of open tasks.
    pub tasks: u64,
    /// Maximum sum of the payloads of open tasks, in bytes.
    pub bytes: u64,
}

/// A lease on a task. The number differs for every lease of a task: an old lease settles nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RetryLease {
    /// The task.
    pub task: RetryTaskId,
    /// Number of the lease, from 1.
    pub number: u64,
}

/// Outcome of the submission of one task.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubmitOutcome {
    /// The task is stored.
    Stored {
        /// Its id.
        task: RetryTaskId,
        /// The caller's lease, if requested and possible.
        lease: Option<RetryLease>,
    },
    /// A task with this key is stored already; nothing changed.
    Repeat {
        /// The id of the stored task.
        task: RetryTaskId,
        /// Whether the stored task failed for good.
        has_failed: bool,
    },
    /// A limit would be exceeded. The task is not stored.
    Full,
}

/// A task leased to the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeasedTask {
    /// The lease, for the settlement.
    pub lease: RetryLease,
    /// Idempotency key.
    pub key: String,
    /// Group, if any.
    pub group: Option<String>,
    /// Input of the work.
    pub payload: Arc<[u8]>,
    /// Index of the next segment to run.
    pub segment: u32,
    /// Result of the segment before; empty for the first segment.
    pub former: Arc<[u8]>,
    /// Number of failed attempts of the segment.
    pub attempts: u32,
    /// Time of the submission, or of the last replay.
    pub opened: Timestamp,
}

/// What became of a leased task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RetryStep {
    /// The segment passed. The next segment is due under the same lease, prolonged.
    Passed {
        /// Result of the segment, up to [`NewRetryTask::BYTES_MAX`].
        result: Arc<[u8]>,
        /// New end of the lease.
        lease_until: Timestamp,
    },
    /// The attempt failed, and counts. The lease ends.
    Retry {
        /// Time of the next attempt.
        due: Timestamp,
        /// Why the attempt failed.
        error: String,
    },
    /// The segment was not run, which counts as no attempt. The lease ends.
    Released {
        /// Time of the next attempt.
        due: Timestamp,
    },
    /// The last segment passed: the task is removed.
    Done,
    /// The attempt failed, counts, and was the last. The task stays stored as failed.
    Failed {
        /// Why the attempt failed.
        error: String,
    },
}

/// The settlement of a lease.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RetrySettlement {
    /// The lease.
    pub lease: RetryLease,
    /// What became of the task.
    pub step: RetryStep,
}

/// A task that failed for good, without its payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedTask {
    /// Id of the task.
    pub id: RetryTaskId,
    /// Kind of the task.
    pub kind: String,
    /// Idempotency key.
    pub key: String,
    /// Group, if any.
    pub group: Option<String>,
    /// Index of the segment that failed.
    pub segment: u32,
    /// Number of failed attempts of the segment.
    pub attempts: u32,
    /// Time of the submission.
    pub created: Timestamp,
    /// Time of the last failure.
    pub failed: Timestamp,
    /// Error of the last attempt.
    pub error: String,
}

/// Place in the list of failed tasks: the list goes on behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FailedTaskCursor {
    /// Time of the last failure of the last task listed.
    pub failed: Timestamp,
    /// Its id.
    pub task: RetryTaskId,
}

/// Outcome of a replay or of a removal by an operator.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RetryReplayOutcome {
    /// The task is open again, or removed. As stored before.
    Done(FailedTask),
    /// The task is open: nothing to replay or to remove.
    Open,
    /// The task does not exist.
    Unknown,
}

/// Numbers of a kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RetryCounts {
    /// The kind.
    pub kind: String,
    /// Open tasks: all that have not failed for good.
    pub open: u64,
    /// Sum of the payloads of open tasks, in bytes.
    pub open_bytes: u64,
    /// Tasks that failed for good.
    pub failed: u64,
    /// Submission of the oldest open task.
    pub oldest: Option<Timestamp>,
}

/// Tasks of the retry queue, in the database.
///
/// - A task has a *kind* (short text, chosen by the service) and belongs to no other kind. Limits, keys and
///   groups are per kind, so that no kind can crowd out another.
/// - A task is *open* until [`RetryStep::Done`] removes it or [`RetryStep::Failed`] keeps it as failed. Of an
///   open task, exactly one lease is in force at a time: until its settlement, or until its end and the next
///   lease. An expired lease that nobody took over still settles.
/// - Of one group, at most one task is leased. Leases follow the order of submission: a task is not leased
///   while an older open task of the group exists. Failed tasks block nothing.
/// - Every call is one transaction, durable when the call returns. A failed call changed nothing, or its
///   response was lost: a repeated submission is a [`SubmitOutcome::Repeat`], a lost lease expires.
/// - A text or payload above its limit is [`StoreError::Refused`], and so is the whole call.
#[async_trait]
pub trait RetryTasks: Send + Sync {
    /// Stores tasks in order. Returns the outcome of each. Exact under concurrency: the open tasks of `kind`
    /// never exceed `limits`. A task refused as full does not keep smaller later tasks out.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn submit(
        &self,
        kind: &str,
        tasks: &[NewRetryTask],
        limits: RetryLimits,
        now: Timestamp,
    ) -> Result<Vec<SubmitOutcome>, StoreError>;

    /// Leases up to `max` due tasks of `kind` until `lease_until`, longest due first. Due are tasks whose
    /// time has come and whose last lease ended, by settlement or by time.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the tasks are leased to nobody until `lease_until`.
    async fn lease_due(
        &self,
        kind: &str,
        max: u32,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<LeasedTask>, StoreError>;

    /// Settles leases of `kind`. Returns for each whether the lease was in force; without force nothing
    /// changes. A call settles a task at most once: further settlements of a task have no force.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn settle(
        &self,
        kind: &str,
        settlements: &[RetrySettlement],
        now: Timestamp,
    ) -> Result<Vec<bool>, StoreError>;

    /// Returns the earliest instant at which a task of `kind` can be leased; `None` without open tasks.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn next_due(&self, kind: &str) -> Result<Option<Timestamp>, StoreError>;

    /// Returns up to `max` failed tasks behind `after`, latest failure first, then highest id; of all kinds
    /// or of one. `None` begins.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn failed(
        &self,
        kind: Option<&str>,
        after: Option<FailedTaskCursor>,
        max: u32,
    ) -> Result<Vec<FailedTask>, StoreError>;

    /// Opens a failed task again, due now, with all its attempts, at the segment that failed. Not subject to
    /// limits.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn replay(&self, task: RetryTaskId, now: Timestamp) -> Result<RetryReplayOutcome, StoreError>;

    /// Removes a failed task.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn discard(&self, task: RetryTaskId) -> Result<RetryReplayOutcome, StoreError>;

    /// Removes up to `max` tasks of `kind` that failed before `until`. Returns their number.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn prune(&self, kind: &str, until: Timestamp, max: u32) -> Result<u64, StoreError>;

    /// Returns the numbers of every kind with a stored task, by name of the kind.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn counts(&self) -> Result<Vec<RetryCounts>, StoreError>;
}
