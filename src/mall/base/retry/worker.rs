//! The background jobs of the retry queue: run due tasks, remove old failed tasks.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{LeasedTask, RetrySettlement, RetryStep, StoreError, Timestamp};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::kind::Kind;
use super::policy::LEASE;
use super::run::{Ran, run};
use crate::mall::base::Context;
use crate::mall::base::chores::{Chore, Every};

/// Time for which operators can replay a failed task.
const FAILED_KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// Runs the due tasks of a kind.
///
/// Leases no more tasks than run at once, so that no lease expires before its run. Segments that ended
/// meanwhile are settled in one transaction.
pub(super) struct RunDue {
    kind: Arc<Kind>,
}

impl RunDue {
    pub(super) fn new(kind: &Arc<Kind>) -> Self {
        Self { kind: Arc::clone(kind) }
    }

    /// Runs until nothing is due, or until `stop` or a failure of the store. Runs in progress are waited for
    /// in any case; no segment begins after `stop`.
    async fn run_due(&self, stop: &CancellationToken) -> Result<(), StoreError> {
        let (mut running, mut trouble) = (JoinSet::new(), None);
        loop {
            let free = self.kind.policy().concurrency.max(1).saturating_sub(running.len());
            let was_idle = running.is_empty();
            if free > 0 && !stop.is_cancelled() && trouble.is_none() {
                let leased = self.lease(free).await;
                let leased = leased.unwrap_or_else(|error| none_because(error, &mut trouble));
                self.run_next(leased, &mut running, &mut trouble, stop).await;
            }
            if was_idle && running.is_empty() {
                return trouble.map_or(Ok(()), Err);
            }
            let settled = self.settle(ended(&mut running).await).await;
            let next = settled.unwrap_or_else(|error| none_because(error, &mut trouble));
            self.run_next(next, &mut running, &mut trouble, stop).await;
        }
    }

    /// Begins the next segments of leased tasks. After `stop` or a failure of the store, releases the leases
    /// instead: the next start continues.
    async fn run_next(
        &self,
        tasks: Vec<LeasedTask>,
        running: &mut JoinSet<Ran>,
        trouble: &mut Option<StoreError>,
        stop: &CancellationToken,
    ) {
        if !stop.is_cancelled() && trouble.is_none() {
            return self.spawn(running, tasks);
        }
        let due = self.kind.now();
        let release =
            |task: LeasedTask| RetrySettlement { lease: task.lease, step: RetryStep::Released { due } };
        if let Err(error) = self.write(tasks.into_iter().map(release).collect()).await {
            trouble.get_or_insert(error);
        }
    }

    fn spawn(&self, running: &mut JoinSet<Ran>, tasks: Vec<LeasedTask>) {
        for task in tasks {
            let kind = Arc::clone(&self.kind);
            running.spawn(async move { run(&kind, task).await });
        }
    }

    /// Leases due tasks. Returns none that a caller of this process still tries.
    async fn lease(&self, max: usize) -> Result<Vec<LeasedTask>, StoreError> {
        let (now, max) = (self.kind.now(), u32::try_from(max).unwrap_or(u32::MAX));
        let tasks = &self.kind.context.storage.base.retry_tasks;
        let mut leased = tasks.lease_due(self.kind.name(), max, now, now + LEASE).await?;
        leased.retain(|task| !self.kind.passes_on(task));
        Ok(leased)
    }

    /// Settles runs. Returns the tasks whose next segment follows at once.
    async fn settle(&self, ended: Vec<Ran>) -> Result<Vec<LeasedTask>, StoreError> {
        let settlement = |ran: &Ran| RetrySettlement { lease: ran.task.lease, step: ran.step.clone() };
        let in_force = self.write(ended.iter().map(settlement).collect()).await?;
        let in_force = ended.into_iter().zip(in_force).filter(|(_, in_force)| *in_force);
        Ok(in_force.filter_map(|(ran, _)| ran.next()).collect())
    }

    async fn write(&self, settlements: Vec<RetrySettlement>) -> Result<Vec<bool>, StoreError> {
        if settlements.is_empty() {
            return Ok(Vec::new());
        }
        let tasks = &self.kind.context.storage.base.retry_tasks;
        tasks.settle(self.kind.name(), &settlements, self.kind.now()).await
    }
}

/// Keeps the first error, for the log. The leases expire, and the segments run again.
fn none_because(error: StoreError, trouble: &mut Option<StoreError>) -> Vec<LeasedTask> {
    trouble.get_or_insert(error);
    Vec::new()
}

/// Waits for a run to end. Returns it with all others that have ended.
async fn ended(running: &mut JoinSet<Ran>) -> Vec<Ran> {
    let mut ended = Vec::new();
    let mut next = running.join_next().await;
    while let Some(ran) = next {
        match ran {
            Ok(ran) => ended.push(ran),
            // Segments run in tasks of their own. The lease expires, and the segment runs again.
            Err(error) => tracing::error!(%error, "a run of the retry queue panicked"),
        }
        next = running.try_join_next();
    }
    ended
}

#[async_trait]
impl Chore for RunDue {
    fn name(&self) -> &'static str {
        "run due tasks"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let next = self.kind.context.storage.base.retry_tasks.next_due(self.kind.name()).await;
        // Without an answer the job runs, and logs the failure.
        next.unwrap_or(Some(now))
    }

    async fn run(&self, now: Timestamp) {
        self.run_until(now, &CancellationToken::new()).await;
    }

    async fn run_until(&self, _now: Timestamp, stop: &CancellationToken) {
        if let Err(error) = self.run_due(stop).await
            && let Some(times) = self.kind.log.again()
        {
            let kind = self.kind.name();
            tracing::warn!(kind, %error, times, "could not run the due tasks of the retry queue");
        }
    }
}

/// Removes tasks that failed a month ago.
pub(super) struct PruneFailed {
    every: Every,
    context: Context,
}

impl PruneFailed {
    const BATCH_MAX: u32 = 1_000;

    pub(super) fn new(context: &Context) -> Self {
        Self { every: Every::new(Duration::from_secs(3600)), context: context.clone() }
    }

    async fn prune(&self, until: Timestamp) -> Result<(), StoreError> {
        let tasks = &self.context.storage.base.retry_tasks;
        for counts in tasks.counts().await?.into_iter().filter(|counts| counts.failed > 0) {
            while tasks.prune(&counts.kind, until, Self::BATCH_MAX).await? == u64::from(Self::BATCH_MAX) {}
        }
        Ok(())
    }
}

#[async_trait]
impl Chore for PruneFailed {
    fn name(&self) -> &'static str {
        "prune failed tasks"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        if let Err(error) = self.prune(now - FAILED_KEPT_FOR).await {
            tracing::warn!(%error, "could not remove old failed tasks of the retry queue");
        }
    }
}
