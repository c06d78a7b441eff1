//! The retry queue from the operator's side: failed tasks are replayed or discarded.

use mallbox_storage::{FailedTask, FailedTaskCursor, RetryReplayOutcome, RetryTaskId};
use serde_json::json;

use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
use crate::mall::base::retry::{RetryMetrics, RetryQueue};
use crate::mall::base::{AuditLog, Context, Failure, Refusal};

/// A failed task with the name of its segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedView {
    /// The task as stored.
    pub task: FailedTask,
    /// Name of the segment that failed; `None` if unknown to this version.
    pub segment: Option<&'static str>,
}

/// The operators' service for the retry queue. Cheap to clone. Payloads are never shown: personal data may be
/// inside.
#[derive(Clone)]
pub struct RetryAdmin {
    context: Context,
    queue: RetryQueue,
    audit: AuditLog,
}

impl RetryAdmin {
    /// Failed tasks per page.
    pub const PAGE: u32 = 50;

    /// Creates the service for `queue`.
    #[must_use]
    pub fn new(context: Context, queue: RetryQueue, audit: AuditLog) -> Self {
        Self { context, queue, audit }
    }

    /// Returns the numbers of all kinds.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn kinds(&self) -> Result<Vec<RetryMetrics>, Failure> {
        Ok(self.queue.metrics().await?)
    }

    /// Returns a page of failed tasks behind `after`, latest failure first; of one kind or of all.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn failed(
        &self,
        kind: Option<&str>,
        after: Option<FailedTaskCursor>,
    ) -> Result<Vec<FailedView>, Failure> {
        let tasks = self.context.storage.base.retry_tasks.failed(kind, after, Self::PAGE).await?;
        let view = |task: FailedTask| FailedView {
            segment: self.queue.segment_name(&task.kind, task.segment),
            task,
        };
        Ok(tasks.into_iter().map(view).collect())
    }

    /// Runs a failed task again, at the segment that failed and with all attempts.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] without a failed task of this id; [`Failure::Store`].
    pub async fn replay(&self, by: By, task: RetryTaskId) -> Result<(), Failure> {
        let tasks = self.context.storage.base.retry_tasks.clone();
        let work = async move { done(tasks.replay(task, by.at).await?) };
        run_audited(&self.audit, by, audited("retry.replay", task), work).await
    }

    /// Removes a failed task for good.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] without a failed task of this id; [`Failure::Store`].
    pub async fn discard(&self, by: By, task: RetryTaskId) -> Result<(), Failure> {
        let tasks = self.context.storage.base.retry_tasks.clone();
        let work = async move { done(tasks.discard(task).await?) };
        run_audited(&self.audit, by, audited("retry.discard", task), work).await
    }
}

fn done(outcome: RetryReplayOutcome) -> Result<(), Failure> {
    match outcome {
        RetryReplayOutcome::Done(_) => Ok(()),
        // Replayed a moment ago, perhaps by another operator.
        RetryReplayOutcome::Open | RetryReplayOutcome::Unknown => {
            Err(Refusal::NotFound("failed task").into())
        }
    }
}

fn audited(action: &'static str, task: RetryTaskId) -> AuditedAction {
    AuditedAction { action, subject: format!("task {task}"), detail: json!({}) }
}
