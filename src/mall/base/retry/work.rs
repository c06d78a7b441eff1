//! Kinds of work, and their segments.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::Timestamp;

use super::RetryPolicy;

/// A run of a segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Number of the attempt of this segment, from 1.
    pub number: u32,
    /// Idempotency key of the task.
    pub key: String,
    /// Input of the work.
    pub payload: Arc<[u8]>,
    /// Result of the segment before; empty for the first segment.
    pub former: Arc<[u8]>,
    /// Time of the submission, or of the last replay.
    pub opened: Timestamp,
}

/// Outcome of a run of a segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SegmentOutcome {
    /// The segment passed, with this result for the next: up to
    /// [`NewRetryTask::BYTES_MAX`](mallbox_storage::NewRetryTask::BYTES_MAX).
    Passed(Vec<u8>),
    /// The segment returned nothing: a failure like any other.
    NoResult,
    /// The segment failed; a retry may succeed. The text is stored and shown to operators: no personal data.
    Failed(String),
    /// The segment failed, and a retry would fail the same way. The text is as of a failure.
    Hopeless(String),
}

/// A step of a work. A segment may run again after a crash, so its effects must be idempotent.
#[async_trait]
pub trait Segment: Send + Sync {
    /// Returns the segment's name, for the log, operators and metrics.
    fn name(&self) -> &'static str;

    /// Runs the segment. The run is aborted after the time limit of the policy.
    async fn run(&self, attempt: &Attempt) -> SegmentOutcome;

    /// Returns the remote party that the segment depends on: each has a breaker of its own. By default the
    /// segment has one breaker.
    fn remote_party(&self, attempt: &Attempt) -> Option<String> {
        let _ = attempt;
        None
    }
}

/// A kind of work: a list of segments, and a policy.
#[derive(Clone)]
pub struct Work {
    /// Name of the kind: up to 32 characters, stored with each task and never changed.
    pub(super) kind: &'static str,
    pub(super) segments: Vec<Arc<dyn Segment>>,
    pub(super) policy: RetryPolicy,
}

impl Work {
    /// Creates a work.
    ///
    /// # Panics
    /// Without segments, or with an empty or too long kind: a mistake of the program.
    #[must_use]
    pub fn new(kind: &'static str, segments: Vec<Arc<dyn Segment>>, policy: RetryPolicy) -> Self {
        assert!(!segments.is_empty(), "a work of kind {kind} needs a segment");
        assert!((1..=mallbox_storage::NewRetryTask::KIND_MAX).contains(&kind.len()), "bad kind {kind:?}");
        Self { kind, segments, policy }
    }
}
