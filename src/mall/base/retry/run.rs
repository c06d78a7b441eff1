//! One run of a segment: admission by the breaker, time limit, and the step that follows from the outcome.

use std::sync::Arc;

use mallbox_storage::{LeasedTask, NewRetryTask, RetryStep, Timestamp};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::breaker::Admission;
use super::kind::Kind;
use super::metrics::Runs;
use super::policy::{LEASE, jitter};
use super::{Attempt, Segment, SegmentOutcome};

/// What a run made of a task.
pub(super) struct Ran {
    /// The task as it was run.
    pub(super) task: LeasedTask,
    /// The step to settle.
    pub(super) step: RetryStep,
    /// Result of the segment, if passed.
    pub(super) result: Option<Arc<[u8]>>,
}

impl Ran {
    fn without_result(task: LeasedTask, step: RetryStep) -> Self {
        Self { task, step, result: None }
    }

    /// Returns the task before its next segment, if a segment passed and another follows.
    pub(super) fn next(self) -> Option<LeasedTask> {
        match (self.step, self.result) {
            (RetryStep::Passed { .. }, Some(former)) => {
                Some(LeasedTask { segment: self.task.segment + 1, former, attempts: 0, ..self.task })
            }
            _ => None,
        }
    }
}

/// Runs the next segment of a task.
pub(super) async fn run(kind: &Kind, task: LeasedTask) -> Ran {
    let now = kind.now();
    if now.since(task.opened) >= kind.policy().age_max {
        let error = format!("older than {} s", kind.policy().age_max.as_secs());
        return Ran::without_result(task, RetryStep::Failed { error });
    }
    let index = usize::try_from(task.segment).unwrap_or(usize::MAX);
    let Some(segment) = kind.work.segments.get(index) else {
        // Stored by a version whose work has more segments.
        let error = format!("segment {} is unknown to this version", task.segment);
        return Ran::without_result(task, RetryStep::Failed { error });
    };
    let attempt = Attempt {
        number: task.attempts.saturating_add(1),
        key: task.key.clone(),
        payload: Arc::clone(&task.payload),
        former: Arc::clone(&task.former),
        opened: task.opened,
    };
    let party = segment.remote_party(&attempt);
    let name = party.map_or_else(|| segment.name().to_owned(), |party| format!("{}/{party}", segment.name()));
    let epoch = match kind.breakers.admit(&name, now) {
        Admission::Run(epoch) => epoch,
        Admission::Wait(until) => {
            Runs::add(&kind.runs.held_back, 1);
            // Spread, so that the waiting tasks do not come back all at once behind the probe.
            let spread = jitter(until.since(now), task.lease.task.get(), task.lease.number);
            return Ran::without_result(task, RetryStep::Released { due: until + spread });
        }
    };
    let number = attempt.number;
    let outcome = bounded(kind, Arc::clone(segment), attempt).await;
    let now = kind.now();
    let has_failed = matches!(outcome, SegmentOutcome::NoResult | SegmentOutcome::Failed(_));
    kind.breakers.record(kind.name(), &name, epoch, has_failed, now);
    settled(kind, task, number, outcome, now)
}

/// Runs a segment within the time limit, as a task of its own: a panic is a failure.
async fn bounded(kind: &Kind, segment: Arc<dyn Segment>, attempt: Attempt) -> SegmentOutcome {
    let limit = kind.policy().timeout();
    let name = segment.name();
    let running = AbortOnDropHandle::new(tokio::spawn(async move { segment.run(&attempt).await }));
    match timeout(limit, running).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => {
            tracing::error!(kind = kind.name(), segment = name, %error, "a segment of a task panicked");
            SegmentOutcome::Failed("the segment panicked".to_owned())
        }
        Err(_) => SegmentOutcome::Failed(format!("no result within {} s", limit.as_secs_f32())),
    }
}

fn settled(kind: &Kind, task: LeasedTask, attempt: u32, outcome: SegmentOutcome, now: Timestamp) -> Ran {
    let retry = |error: String| {
        Runs::add(&kind.runs.failed, 1);
        match kind.policy().pause(task.lease.task, attempt) {
            Some(pause) => RetryStep::Retry { due: now + pause, error },
            None => RetryStep::Failed { error },
        }
    };
    let hopeless = |error: String| {
        Runs::add(&kind.runs.hopeless, 1);
        RetryStep::Failed { error }
    };
    let (step, result) = match outcome {
        SegmentOutcome::Passed(result) if result.len() > NewRetryTask::BYTES_MAX => {
            (hopeless(format!("the result has {} bytes, more than can be stored", result.len())), None)
        }
        SegmentOutcome::Passed(result) => {
            Runs::add(&kind.runs.passed, 1);
            let result: Arc<[u8]> = result.into();
            let is_last =
                usize::try_from(task.segment).is_ok_and(|index| index + 1 >= kind.work.segments.len());
            let passed = RetryStep::Passed { result: Arc::clone(&result), lease_until: now + LEASE };
            (if is_last { RetryStep::Done } else { passed }, Some(result))
        }
        SegmentOutcome::NoResult => (retry("no result".to_owned()), None),
        SegmentOutcome::Failed(error) => (retry(error), None),
        SegmentOutcome::Hopeless(error) => (hopeless(error), None),
    };
    if let RetryStep::Failed { error } = &step {
        let (kind, task) = (kind.name(), task.lease.task.get());
        tracing::warn!(kind, task, attempt, error, "a task of the retry queue failed for good");
    }
    Ran { task, step, result }
}
