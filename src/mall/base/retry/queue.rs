//! The retry queue: submissions, first tries, and the background jobs.

use std::collections::BTreeMap;
use std::sync::Arc;

use mallbox_storage::{
    LeasedTask, NewRetryTask, RetryCounts, RetrySettlement, RetryStep, StoreError, SubmitOutcome, Timestamp,
};

use super::kind::{InHand, Kind};
use super::metrics::{RetryMetrics, Runs};
use super::policy::LEASE;
use super::run::run;
use super::worker::{PruneFailed, RunDue};
use super::{BreakerMetrics, Work};
use crate::mall::base::chores::Chore;
use crate::mall::base::{Context, Failure};

/// Tasks per transaction of [`RetryQueue::submit_all`].
const SUBMIT_BATCH: usize = 512;
/// Size of the payloads per transaction, in bytes, from which no further task is added.
const SUBMIT_BATCH_BYTES: usize = 1 << 20;

/// A task to submit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Submission {
    /// Idempotency key, unique within the kind while the task is stored; up to 128 bytes.
    pub key: String,
    /// Tasks of one group run one after the other, in order of submission; up to 128 bytes.
    pub group: Option<String>,
    /// Input of the work, up to 64 KiB.
    pub payload: Arc<[u8]>,
}

/// Outcome of [`RetryQueue::submit`], for the caller that made the first try.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FirstTry {
    /// All segments passed: the result of the last.
    Done(Arc<[u8]>),
    /// The first segment passed and a later segment did not. The caller has succeeded; the queue goes on.
    Continues,
    /// The first segment failed, with this error, and will be retried.
    Retries(String),
    /// The first segment was not run: its breaker is open, or an older task of the group comes first. The
    /// task will be run.
    Waits,
    /// The first segment failed for good, with this error. Operators see the task.
    Failed(String),
    /// A task with this key is stored already, and nothing was run.
    Repeat {
        /// Whether the stored task failed for good.
        has_failed: bool,
    },
    /// The queue of this kind is full: the task is not stored, and nothing was run.
    Full,
}

/// Outcome of [`RetryQueue::submit_all`] for one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queued {
    /// The task is stored, by this call or an earlier one.
    Stored,
    /// A task with this key is stored, and failed for good.
    FailedBefore,
    /// The queue of this kind is full: the task is not stored.
    Full,
}

/// Runs work until done. Cheap to clone; clones share one state.
#[derive(Clone)]
pub struct RetryQueue {
    context: Context,
    kinds: Arc<BTreeMap<&'static str, Arc<Kind>>>,
}

impl RetryQueue {
    /// Creates the queue for these works.
    ///
    /// # Panics
    /// If two works have one kind: a mistake of the program.
    #[must_use]
    pub fn new(context: Context, works: Vec<Work>) -> Self {
        let number = works.len();
        let kinds: BTreeMap<_, _> =
            works.into_iter().map(|work| (work.kind, Kind::new(context.clone(), work))).collect();
        assert_eq!(kinds.len(), number, "two works have one kind");
        Self { context, kinds: Arc::new(kinds) }
    }

    /// Stores a task and makes the first try, segment by segment, before returning. A caller that is
    /// cancelled stops nothing.
    ///
    /// # Errors
    /// [`Failure::Store`]: the task may be stored; a repeat with the same key is safe. [`Failure::Bug`] for
    /// an unknown kind.
    pub async fn submit(&self, kind: &str, task: Submission) -> Result<FirstTry, Failure> {
        let kind = Arc::clone(self.kind(kind)?);
        crate::mall::base::detached::detached(async move { first_try(kind, task).await }).await
    }

    /// Stores tasks without a first try, to be run in the background. Writes 512 tasks per transaction; after
    /// an error the tasks before are stored, and a repeat is safe.
    ///
    /// # Errors
    /// [`Failure::Store`] or, for an unknown kind, [`Failure::Bug`].
    pub async fn submit_all(&self, kind: &str, tasks: Vec<Submission>) -> Result<Vec<Queued>, Failure> {
        let kind = self.kind(kind)?;
        let now = kind.now();
        let mut rest: &[NewRetryTask] =
            &tasks.into_iter().map(|task| stored(task, now, None)).collect::<Vec<_>>();
        let mut queued = Vec::with_capacity(rest.len());
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(batch_length(rest));
            let limits = kind.policy().limits;
            let outcomes =
                self.context.storage.base.retry_tasks.submit(kind.name(), batch, limits, now).await?;
            queued.extend(outcomes.into_iter().map(|outcome| match outcome {
                SubmitOutcome::Stored { .. } | SubmitOutcome::Repeat { has_failed: false, .. } => {
                    Queued::Stored
                }
                SubmitOutcome::Repeat { has_failed: true, .. } => Queued::FailedBefore,
                SubmitOutcome::Full => Queued::Full,
            }));
            rest = later;
        }
        Runs::add(&kind.runs.refused, queued.iter().filter(|queued| **queued == Queued::Full).count());
        Ok(queued)
    }

    /// Returns the background jobs: one per kind, so that no kind delays another, and one that removes old
    /// failed tasks.
    #[must_use]
    pub fn chores(&self) -> Vec<Arc<dyn Chore>> {
        let runs = self.kinds.values().map(|kind| Arc::new(RunDue::new(kind)) as Arc<dyn Chore>);
        let prune = Arc::new(PruneFailed::new(&self.context)) as Arc<dyn Chore>;
        runs.chain([prune]).collect()
    }

    /// Returns the metrics of all kinds: of this version's works, and of stored tasks.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    pub async fn metrics(&self) -> Result<Vec<RetryMetrics>, StoreError> {
        let counts = self.context.storage.base.retry_tasks.counts().await?;
        let mut by_kind: BTreeMap<String, RetryCounts> =
            counts.into_iter().map(|counts| (counts.kind.clone(), counts)).collect();
        for kind in self.kinds.keys() {
            let none =
                || RetryCounts { kind: (*kind).to_owned(), open: 0, open_bytes: 0, failed: 0, oldest: None };
            by_kind.entry((*kind).to_owned()).or_insert_with(none);
        }
        let metrics = |counts: RetryCounts| match self.kinds.get(&*counts.kind) {
            Some(kind) => RetryMetrics::of(counts, &kind.runs, kind.breakers.not_closed()),
            None => RetryMetrics::of(counts, &Runs::default(), Vec::new()),
        };
        Ok(by_kind.into_values().map(metrics).collect())
    }

    /// Returns the breakers of a kind that are not closed.
    #[must_use]
    pub fn breakers(&self, kind: &str) -> Vec<BreakerMetrics> {
        let found = self.kinds.get(kind).map(|kind| kind.breakers.not_closed()).unwrap_or_default();
        found.into_iter().map(|(name, state)| BreakerMetrics { name, state }).collect()
    }

    /// Returns the name of a segment, by its index; `None` for an unknown kind or segment.
    #[must_use]
    pub fn segment_name(&self, kind: &str, segment: u32) -> Option<&'static str> {
        let index = usize::try_from(segment).ok()?;
        Some(self.kinds.get(kind)?.work.segments.get(index)?.name())
    }

    fn kind(&self, kind: &str) -> Result<&Arc<Kind>, Failure> {
        self.kinds.get(kind).ok_or_else(|| Failure::Bug(format!("no work of kind {kind} is registered")))
    }
}

fn stored(task: Submission, now: Timestamp, lease_until: Option<Timestamp>) -> NewRetryTask {
    NewRetryTask { key: task.key, group: task.group, payload: task.payload, due: now, lease_until }
}

fn batch_length(tasks: &[NewRetryTask]) -> usize {
    let mut bytes = 0;
    let fits = |task: &&NewRetryTask| {
        let is_room = bytes < SUBMIT_BATCH_BYTES;
        bytes += task.payload.len();
        is_room
    };
    tasks.iter().take(SUBMIT_BATCH).take_while(fits).count()
}

async fn first_try(kind: Arc<Kind>, task: Submission) -> Result<FirstTry, Failure> {
    let now = kind.now();
    let mut leased = LeasedTask {
        lease: mallbox_storage::RetryLease { task: mallbox_storage::RetryTaskId::new(0), number: 0 },
        key: task.key.clone(),
        group: task.group.clone(),
        payload: Arc::clone(&task.payload),
        segment: 0,
        former: [].into(),
        attempts: 0,
        opened: now,
    };
    leased.lease = match kind.submit(stored(task, now, Some(now + LEASE))).await? {
        SubmitOutcome::Stored { lease: Some(lease), .. } => lease,
        SubmitOutcome::Stored { lease: None, .. } => return Ok(FirstTry::Waits),
        SubmitOutcome::Repeat { has_failed, .. } => return Ok(FirstTry::Repeat { has_failed }),
        SubmitOutcome::Full => {
            Runs::add(&kind.runs.refused, 1);
            return Ok(FirstTry::Full);
        }
    };
    let in_hand = kind.take(leased.lease);
    let mut has_passed = false;
    loop {
        let ran = run(&kind, leased).await;
        let outcome = outcome(&ran.step, ran.result.clone(), has_passed);
        let is_settled = settle(&kind, &in_hand, ran.step.clone()).await;
        has_passed = true;
        match (ran.next(), is_settled) {
            (Some(next), true) => leased = next,
            _ => return Ok(outcome),
        }
    }
}

/// Returns what to tell the caller after the last run of the first try.
fn outcome(step: &RetryStep, result: Option<Arc<[u8]>>, has_passed: bool) -> FirstTry {
    match step {
        RetryStep::Done => FirstTry::Done(result.unwrap_or_default()),
        RetryStep::Passed { .. } => FirstTry::Continues,
        _ if has_passed => FirstTry::Continues,
        RetryStep::Retry { error, .. } => FirstTry::Retries(error.clone()),
        RetryStep::Released { .. } => FirstTry::Waits,
        RetryStep::Failed { error } => FirstTry::Failed(error.clone()),
    }
}

/// Settles the lease of a first try. Without a settlement the lease expires, and the segment runs again.
async fn settle(kind: &Kind, in_hand: &InHand, step: RetryStep) -> bool {
    let Some(lease) = in_hand.lease() else { return false };
    match kind.settle(RetrySettlement { lease, step }).await {
        Ok(is_in_force) => is_in_force,
        Err(error) => {
            if let Some(times) = kind.log.again() {
                let kind = kind.name();
                tracing::warn!(kind, %error, times, "could not settle a task; it will run again");
            }
            false
        }
    }
}
