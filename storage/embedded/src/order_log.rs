//! The [`OrderLog`] port over the journal.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    Claim, LogState, LoggedClaim, OrderId, OrderLog, PendingClaims, StoreError, UserId, VoucherId,
};

use super::journal::{Journal, WriteBlock};
use super::pending::{InFlight, Pending};
use super::queue::Queue;
use super::settled::Settled;

/// Accepted claims: on the disk in the journal, in memory in the queue and the index.
pub(crate) struct EmbeddedOrderLog {
    pub(crate) journal: Arc<Journal>,
    pub(crate) pending: Arc<Pending>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) settled: Arc<Settled>,
}

#[async_trait]
impl OrderLog for EmbeddedOrderLog {
    async fn take(&self, worker: &str, max: usize, wait: Duration) -> Result<Vec<LoggedClaim>, StoreError> {
        let deadline = tokio::time::Instant::now() + wait;
        loop {
            let taken = self.queue.take(worker, max);
            // Tokio's timers are never shorter than a millisecond.
            if !taken.is_empty() || wait.is_zero() {
                return Ok(taken);
            }
            if tokio::time::timeout_at(deadline, self.queue.filled()).await.is_err() {
                return Ok(taken);
            }
        }
    }

    async fn done(&self, worker: &str, asked: &[LoggedClaim]) -> Result<Vec<OrderId>, StoreError> {
        // Only claims in the worker's hands count: settling a claim twice would advance the mark too far.
        let settled = self.queue.settle(worker, asked);
        for logged in &settled {
            self.pending.remove(logged.claim.order);
        }
        self.settled.settle(&settled);
        let was_in_hand: HashSet<OrderId> = settled.iter().map(|logged| logged.claim.order).collect();
        let all = asked.iter().map(|logged| logged.claim.order);
        Ok(all.filter(|order| !was_in_hand.contains(order)).collect())
    }

    async fn put_back(&self, worker: &str, claims: &[LoggedClaim], refused: bool) -> Result<(), StoreError> {
        self.queue.put_back(worker, claims, refused);
        Ok(())
    }

    async fn reclaim(&self, worker: &str) -> Result<usize, StoreError> {
        Ok(self.queue.reclaim(worker))
    }

    async fn find(&self, order: OrderId) -> Result<Option<Claim>, StoreError> {
        let Some(InFlight { claim, group }) = self.pending.find(order) else { return Ok(None) };
        self.journal.until_durable("order_log.find", group).await?;
        Ok(Some(claim))
    }

    async fn of_user(&self, user: UserId) -> Result<Vec<Claim>, StoreError> {
        let in_flight = self.pending.of_user(user);
        if let Some(group) = in_flight.iter().map(|in_flight| in_flight.group).max() {
            self.journal.until_durable("order_log.of_user", group).await?;
        }
        Ok(in_flight.into_iter().map(|in_flight| in_flight.claim).collect())
    }

    async fn count(&self, voucher: VoucherId) -> Result<PendingClaims, StoreError> {
        Ok(self.pending.count(voucher, |group| self.journal.is_durable(group)))
    }

    async fn pending(&self) -> Result<Vec<Claim>, StoreError> {
        let in_flight = self.pending.all().into_iter().filter(|it| self.journal.is_durable(it.group));
        Ok(in_flight.map(|it| it.claim).collect())
    }

    async fn state(&self) -> LogState {
        let trouble = self.journal.trouble();
        LogState {
            pending: self.pending.len(),
            oldest: self.queue.oldest(),
            is_short_of_space: matches!(trouble, Some(WriteBlock::Full(_))),
            trouble: trouble.map(|trouble| trouble.text()),
        }
    }
}
