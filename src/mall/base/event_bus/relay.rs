//! The relay: gives events their positions, hands them over, and prunes old ones.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{EVENTS_MAX, LockEntry, LockOutcome, LockOwner, StoreError, Timestamp};
use tokio_util::sync::CancellationToken;

use super::dispatch::Dispatcher;
use super::metrics::EventMetrics;
use crate::mall::base::Context;
use crate::mall::base::chores::{Chore, Every};
use crate::mall::base::sparse_log::SparseLog;

/// Background job of the event bus. Every process learns of subscribers; a leader does the rest, by a lock
/// with a lease of [`LEASE`](Self::LEASE). A second leader would do no harm: positions are given under a
/// lock, and cursors moved by compare-and-set.
pub(in crate::mall) struct EventRelay {
    every: Every,
    prune_every: Every,
    context: Context,
    dispatcher: Dispatcher,
    metrics: Arc<EventMetrics>,
    /// Lock owner id of this process.
    owner: LockOwner,
    log: SparseLog,
}

impl EventRelay {
    const LOCK: &str = "events";
    /// Lease of the leader, in real time: for so long nobody relays after a leader was killed.
    const LEASE: Duration = Duration::from_secs(10);
    const SPAN: Duration = Duration::from_millis(500);
    const PRUNE_SPAN: Duration = Duration::from_secs(60);
    /// Time for which events are kept, for readers and for subscribers that are away.
    pub(in crate::mall) const RETENTION: Duration = Duration::from_secs(7 * 24 * 3600);
    /// Events pruned per transaction.
    const PRUNE_BATCH: u32 = 500;
    /// Batches per run: other work of the job waits meanwhile.
    const BATCHES_MAX: usize = 20;

    pub(in crate::mall) fn new(
        context: &Context,
        dispatcher: Dispatcher,
        metrics: Arc<EventMetrics>,
    ) -> Self {
        Self {
            every: Every::new(Self::SPAN),
            prune_every: Every::new(Self::PRUNE_SPAN),
            context: context.clone(),
            dispatcher,
            metrics,
            owner: LockOwner::random(),
            log: SparseLog::default(),
        }
    }

    /// Returns whether this process is the leader. A leader renews the lease on every run.
    async fn is_ours(&self) -> Result<bool, StoreError> {
        let locks = &self.context.storage.base.locks;
        if !locks.are_shared() {
            return Ok(true);
        }
        let entry = LockEntry { owner: self.owner, number: 0 };
        let outcome = locks.enter(Self::LOCK, entry, Self::LEASE).await?;
        Ok(matches!(outcome, LockOutcome::Held(_)))
    }

    async fn relay(&self, now: Timestamp, stop: &CancellationToken) -> Result<(), StoreError> {
        let ports = &self.context.storage.base;
        let subscribers = ports.event_subscribers.list().await?;
        let is_time_to_prune = self.prune_every.next(now) <= now;
        if subscribers.is_empty() && !is_time_to_prune {
            self.metrics.set_state(mallbox_storage::EventCounts::default(), &[]);
            return Ok(());
        }
        if self.is_ours().await? {
            self.number(now, stop).await?;
            self.dispatcher.hand_over(&subscribers, now, stop).await;
            if is_time_to_prune {
                self.prune(now, stop).await?;
                self.prune_every.ran(now);
            }
        }
        let subscribers = ports.event_subscribers.list().await?;
        self.metrics.set_state(ports.events.counts().await?, &subscribers);
        Ok(())
    }

    async fn number(&self, now: Timestamp, stop: &CancellationToken) -> Result<(), StoreError> {
        for _ in 0..Self::BATCHES_MAX {
            let settled = self.context.storage.base.events.number(EVENTS_MAX, now).await?;
            self.metrics.count_numbered(settled);
            if settled < u64::from(EVENTS_MAX) || stop.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    async fn prune(&self, now: Timestamp, stop: &CancellationToken) -> Result<(), StoreError> {
        // A clock in doubt must not prune early.
        let before = self.context.expiry_now(now) - Self::RETENTION;
        for _ in 0..Self::BATCHES_MAX {
            let pruned = self.context.storage.base.events.prune(before, Self::PRUNE_BATCH).await?;
            if pruned < u64::from(Self::PRUNE_BATCH) || stop.is_cancelled() {
                break;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Chore for EventRelay {
    fn name(&self) -> &'static str {
        "relay events"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.run_until(now, &CancellationToken::new()).await;
    }

    async fn run_until(&self, now: Timestamp, stop: &CancellationToken) {
        self.every.ran(now);
        if let Err(error) = self.relay(now, stop).await
            && let Some(times) = self.log.again()
        {
            tracing::warn!(%error, times, "could not relay events; the next run retries");
        }
    }
}
