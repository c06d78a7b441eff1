//! The chores that sales and orders need.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{Errand, StoreError, Timestamp};

use super::Context;
use super::cashier::Cashier;
use super::chores::{Chore, Every};
use super::overdue_orders::CancelOverdue;
use super::repairs::Repairs;
use super::sales::SaleCounter;
use super::sparse_log::SparseLog;

/// Every chore that sales, orders and the store need.
#[must_use]
pub fn chores(context: &Context, sales: &SaleCounter, cashier: &Cashier) -> Vec<Arc<dyn Chore>> {
    let every = |ms| Every::new(Duration::from_millis(ms));
    vec![
        Arc::new(CancelOverdue::new(context)),
        Arc::new(RunErrands { every: every(1_000), context: context.clone() }),
        Arc::new(SettlePayments { every: every(5_000), cashier: cashier.clone() }),
        Arc::new(RefreshTerms { every: every(500), sales: sales.clone() }),
        Arc::new(Repairs::new(context, sales)),
        Arc::new(CompareClocks { every: every(60_000), context: context.clone(), log: SparseLog::default() }),
        Arc::new(Sweep { every: every(1_000), context: context.clone() }),
    ]
}

/// Runs what closed orders ask for: gives back each unit that whoever closed the order may not have given back.
struct RunErrands {
    every: Every,
    context: Context,
}

impl RunErrands {
    /// Errands run in one go.
    const AT_ONCE: u32 = 1_000;

    /// Runs some of them. Answers whether there may be more.
    async fn some(&self) -> Result<bool, StoreError> {
        let storage = &self.context.storage;
        let errands = storage.outbox.open(Self::AT_ONCE).await?;
        if !errands.is_empty() {
            // Mostly no longer held: given back when the order was closed.
            let units: Vec<_> = errands
                .iter()
                .map(|&Errand::Release { voucher, user, order }| (voucher, user, order))
                .collect();
            storage.sales.release_all(&units).await?;
            storage.outbox.done(&errands).await?;
        }
        Ok(errands.len() as u64 == u64::from(Self::AT_ONCE))
    }
}

#[async_trait]
impl Chore for RunErrands {
    fn name(&self) -> &'static str {
        "run errands"
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
                    tracing::warn!(%error, "units of closed orders are still to be given back");
                    return;
                }
            }
        }
    }
}

/// Finishes payments that were left half-way.
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
            tracing::warn!(%error, "open payments cannot be read");
        }
    }
}

/// Keeps the copies of the sales' terms young, so that no claim has to wait for them, and the store in step with the
/// record.
struct RefreshTerms {
    every: Every,
    sales: SaleCounter,
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
            tracing::warn!(%error, "the terms of the sales cannot be read");
        }
    }
}

/// Frees what has expired in the store, and retries there what failed.
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
        // Later is no harm; earlier would end sessions by a clock that is in doubt.
        let expired = self.context.expiry_now(now);
        if let Err(error) = self.context.storage.upkeep.sweep(expired).await {
            tracing::warn!(%error, "the store could not be swept");
        }
    }
}

/// Says when this machine's clock is not the store's.
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
