//! A kind of work at run time: breakers, batches and tasks in hand.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::{
    BatchCall, Batcher, LeasedTask, NewRetryTask, RetryLease, RetrySettlement, RetryTaskId, StoreError,
    SubmitOutcome, Timestamp,
};
use parking_lot::Mutex;

use super::breaker::Breakers;
use super::metrics::Runs;
use super::{RetryPolicy, Work};
use crate::mall::base::Context;
use crate::mall::base::sparse_log::SparseLog;

pub(super) struct Kind {
    pub(super) work: Work,
    pub(super) context: Context,
    pub(super) breakers: Breakers,
    pub(super) runs: Runs,
    pub(super) log: SparseLog,
    submits: Arc<Batcher<Submits>>,
    settles: Arc<Batcher<Settles>>,
    /// Tasks that callers try for the first time, with the lease in force.
    in_hand: Mutex<HashMap<RetryTaskId, RetryLease>>,
}

impl Kind {
    pub(super) fn new(context: Context, work: Work) -> Arc<Self> {
        let kind = work.kind;
        Arc::new(Self {
            breakers: Breakers::new(work.policy.breaker),
            runs: Runs::default(),
            log: SparseLog::default(),
            submits: Batcher::new(Submits { kind, policy: work.policy.clone(), context: context.clone() }),
            settles: Batcher::new(Settles { kind, context: context.clone() }),
            in_hand: Mutex::default(),
            work,
            context,
        })
    }

    pub(super) fn name(&self) -> &'static str {
        self.work.kind
    }

    pub(super) fn policy(&self) -> &RetryPolicy {
        &self.work.policy
    }

    pub(super) fn now(&self) -> Timestamp {
        self.context.now()
    }

    /// Stores a task, in a batch with those of concurrent callers.
    pub(super) async fn submit(&self, task: NewRetryTask) -> Result<SubmitOutcome, StoreError> {
        self.submits.call(task).await
    }

    /// Settles a lease, in a batch with those of concurrent callers. Returns whether the lease was in force.
    pub(super) async fn settle(&self, settlement: RetrySettlement) -> Result<bool, StoreError> {
        self.settles.call(settlement).await
    }

    /// Takes a task in hand until the returned value is dropped.
    pub(super) fn take(self: &Arc<Self>, lease: RetryLease) -> InHand {
        self.in_hand.lock().insert(lease.task, lease);
        InHand { kind: Arc::clone(self), task: lease.task }
    }

    /// Whether a caller of this process still tries the task, although its lease expired: by a jump of the
    /// clock, or on an overloaded machine. The new lease goes to the caller.
    pub(super) fn passes_on(&self, task: &LeasedTask) -> bool {
        let mut in_hand = self.in_hand.lock();
        let held = in_hand.get_mut(&task.lease.task);
        held.map(|held| *held = task.lease).is_some()
    }
}

/// A task in hand.
pub(super) struct InHand {
    kind: Arc<Kind>,
    task: RetryTaskId,
}

impl InHand {
    /// Returns the lease in force.
    pub(super) fn lease(&self) -> Option<RetryLease> {
        self.kind.in_hand.lock().get(&self.task).copied()
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        self.kind.in_hand.lock().remove(&self.task);
    }
}

struct Submits {
    kind: &'static str,
    policy: RetryPolicy,
    context: Context,
}

#[async_trait]
impl BatchCall for Submits {
    const OP: &'static str = "submit tasks";
    type Item = NewRetryTask;
    type Outcome = SubmitOutcome;

    fn size(task: &NewRetryTask) -> usize {
        task.payload.len() + task.key.len()
    }

    async fn call(&self, tasks: Vec<NewRetryTask>) -> Result<Vec<SubmitOutcome>, StoreError> {
        let now = self.context.now();
        self.context.storage.base.retry_tasks.submit(self.kind, &tasks, self.policy.limits, now).await
    }
}

struct Settles {
    kind: &'static str,
    context: Context,
}

#[async_trait]
impl BatchCall for Settles {
    const OP: &'static str = "settle tasks";
    type Item = RetrySettlement;
    type Outcome = bool;

    fn size(settlement: &RetrySettlement) -> usize {
        match &settlement.step {
            mallbox_storage::RetryStep::Passed { result, .. } => result.len(),
            _ => 1,
        }
    }

    async fn call(&self, settlements: Vec<RetrySettlement>) -> Result<Vec<bool>, StoreError> {
        let now = self.context.now();
        self.context.storage.base.retry_tasks.settle(self.kind, &settlements, now).await
    }
}
