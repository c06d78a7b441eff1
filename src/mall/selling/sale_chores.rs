//! Background jobs for sales and orders.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{OutboxEntry, StoreError, Timestamp};

use super::batch_claims;
use super::cashier::Cashier;
use super::overdue_orders::CancelOverdue;
use super::reconciliation::Reconciliation;
use super::sales::FlashSales;
use super::wave_releases::ReleaseWaves;
use crate::mall::base::Context;
use crate::mall::base::chores::{Chore, Every};
use crate::mall::base::sparse_log::SparseLog;

/// Returns all background jobs for sales, orders and the store.
#[must_use]
pub fn chores(context: &Context, sales: &FlashSales, cashier: &Cashier) -> Vec<Arc<dyn Chore>> {
    let every = |ms| Every::new(Duration::from_millis(ms));
    vec![
        Arc::new(CancelOverdue::new(context, cashier)),
        Arc::new(ProcessOutbox { every: every(1_000), context: context.clone() }),
        Arc::new(SettlePayments { every: every(5_000), cashier: cashier.clone() }),
        Arc::new(PollPayments { every: every(5_000), cashier: cashier.clone() }),
        Arc::new(ReleaseWaves::new(context, sales)),
        Arc::new(ServeWaitingLists { every: every(1_000), sales: sales.clone() }),
        Arc::new(StoreAttempts { every: every(500), sales: sales.clone() }),
        Arc::new(SweepAttempts { every: every(60_000), sales: sales.clone() }),
        Arc::new(PruneBatches { every: every(60_000), context: context.clone() }),
        Arc::new(RefreshTerms { every: every(500), sales: sales.clone() }),
        Arc::new(Reconciliation::new(context, sales, cashier)),
        Arc::new(CompareClocks { every: every(60_000), context: context.clone(), log: SparseLog::default() }),
        Arc::new(Sweep { every: every(1_000), context: context.clone() }),
    ]
}

/// Processes outbox entries: releases the unit of each closed order. The call that closed the order may have
/// failed before releasing.
struct ProcessOutbox {
    every: Every,
    context: Context,
}

impl ProcessOutbox {
    /// Outbox entries processed per batch.
    const BATCH_MAX: u32 = 1_000;

    /// Processes a batch. Returns whether more entries may be open.
    async fn some(&self) -> Result<bool, StoreError> {
        let storage = &self.context.storage;
        let entries = storage.selling.outbox.open(Self::BATCH_MAX).await?;
        if !entries.is_empty() {
            // Most units have already been released, when the order was closed.
            let units: Vec<_> = entries
                .iter()
                .map(|&OutboxEntry::Release { voucher, user, order }| (voucher, user, order))
                .collect();
            storage.selling.sales.release_all(&units).await?;
            storage.selling.outbox.done(&entries).await?;
        }
        Ok(entries.len() as u64 == u64::from(Self::BATCH_MAX))
    }
}

#[async_trait]
impl Chore for ProcessOutbox {
    fn name(&self) -> &'static str {
        "process the outbox"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        loop {
            match self.some().await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(%error, "could not process the outbox; the next run retries");
                    return;
                }
            }
        }
    }
}

/// Finishes payments left half-done.
struct SettlePayments {
    every: Every,
    cashier: Cashier,
}

#[async_trait]
impl Chore for SettlePayments {
    fn name(&self) -> &'static str {
        "settle payments"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        if let Err(error) = self.cashier.settle(now).await {
            tracing::warn!(%error, "could not read unfinished payments");
        }
    }
}

/// Queries payments that wait for a buyer at the gateway over HTTP: the callback may be lost.
struct PollPayments {
    every: Every,
    cashier: Cashier,
}

#[async_trait]
impl Chore for PollPayments {
    fn name(&self) -> &'static str {
        "poll payments"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.cashier.has_http_gateway().then(|| self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        if let Err(error) = self.cashier.poll(now).await {
            tracing::warn!(%error, "could not read unfinished payments");
        }
    }
}

/// Refreshes the copies of the sales' terms, so that no claim waits for the database. Keeps the sales store
/// consistent with the database.
struct RefreshTerms {
    every: Every,
    sales: FlashSales,
}

#[async_trait]
impl Chore for RefreshTerms {
    fn name(&self) -> &'static str {
        "refresh terms"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.sales.has_to_refresh().then(|| self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        if let Err(error) = self.sales.refresh(now).await {
            tracing::warn!(%error, "could not refresh the terms of the sales");
        }
    }
}

/// Hands units that became free to the users of waiting lists.
struct ServeWaitingLists {
    every: Every,
    sales: FlashSales,
}

#[async_trait]
impl Chore for ServeWaitingLists {
    fn name(&self) -> &'static str {
        "serve waiting lists"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        match self.sales.serve_waiting_lists(now).await {
            Ok(0) => {}
            Ok(orders) => tracing::info!(orders, "promoted users of waiting lists"),
            Err(error) => tracing::warn!(%error, "could not serve all waiting lists; the next run retries"),
        }
    }
}

/// Writes attempts to the decision log.
struct StoreAttempts {
    every: Every,
    sales: FlashSales,
}

#[async_trait]
impl Chore for StoreAttempts {
    fn name(&self) -> &'static str {
        "store attempts"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.sales.has_attempts().then(|| self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        if let Err(error) = self.sales.store_attempts().await {
            tracing::warn!(%error, "could not write attempts to the decision log; they are lost");
        }
    }
}

/// Deletes old attempts from the decision log.
struct SweepAttempts {
    every: Every,
    sales: FlashSales,
}

#[async_trait]
impl Chore for SweepAttempts {
    fn name(&self) -> &'static str {
        "sweep attempts"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        if let Err(error) = self.sales.sweep_attempts(now).await {
            tracing::warn!(%error, "could not delete old attempts from the decision log; the next run retries");
        }
    }
}

/// Deletes old batches of claims, and gateways whose tokens expired long ago.
struct PruneBatches {
    every: Every,
    context: Context,
}

#[async_trait]
impl Chore for PruneBatches {
    fn name(&self) -> &'static str {
        "prune batches of claims"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        if let Err(error) = batch_claims::prune(&self.context, now).await {
            tracing::warn!(%error, "could not delete old batches of claims; the next run retries");
        }
    }
}

/// Deletes expired entries from the store and retries failed work of the store.
struct Sweep {
    every: Every,
    context: Context,
}

#[async_trait]
impl Chore for Sweep {
    fn name(&self) -> &'static str {
        "sweep"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        // Sweeping late does no harm. Sweeping early would end sessions by a clock in doubt.
        let expired = self.context.expiry_now(now);
        if let Err(error) = self.context.storage.base.upkeep.sweep(expired).await {
            tracing::warn!(%error, "could not delete expired entries from the store");
        }
    }
}

/// Warns when this machine's clock differs from the store's clock.
struct CompareClocks {
    every: Every,
    context: Context,
    log: SparseLog,
}

#[async_trait]
impl Chore for CompareClocks {
    fn name(&self) -> &'static str {
        "compare clocks"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        if let (_, Some(gap)) = self.context.health().await
            && let Some(times) = self.log.again()
        {
            tracing::warn!(gap_ms = gap.as_millis(), times, "{gap}");
        }
    }
}
