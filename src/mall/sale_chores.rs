//! The chores that sales and orders need.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{Errand, OrderId, Step, Stepped, StoreError, Timestamp};
use tokio::task::JoinSet;

use super::Context;
use super::cashier::{Cashier, closed};
use super::chores::{Chore, Every};
use super::repairs::Repairs;
use super::sales::SaleCounter;
use super::sparse_log::SparseLog;

/// Every chore that sales, orders and the store need.
#[must_use]
pub fn chores(context: &Context, sales: &SaleCounter, cashier: &Cashier) -> Vec<Arc<dyn Chore>> {
    let every = |ms| Every::new(Duration::from_millis(ms));
    vec![
        Arc::new(ExpireOrders { context: context.clone() }),
        Arc::new(RunErrands { every: every(1_000), context: context.clone() }),
        Arc::new(SettlePayments { every: every(5_000), cashier: cashier.clone() }),
        Arc::new(RefreshTerms { every: every(500), sales: sales.clone() }),
        Arc::new(Repairs::new(context, sales)),
        Arc::new(CompareClocks { every: every(60_000), context: context.clone(), log: SparseLog::default() }),
        Arc::new(Sweep { every: every(1_000), context: context.clone() }),
    ]
}

/// Cancels unpaid orders at their deadline. Asks the deadlines alone, never the record, what is due.
struct ExpireOrders {
    context: Context,
}

impl ExpireOrders {
    /// Orders asked for at once.
    const DUE_AT_ONCE: usize = 256;
    /// Orders being cancelled at any time: enough to share the record's commits, and few enough to leave room for others,
    /// be it on the 16 connections that a process has to a server.
    const SIDE_BY_SIDE: usize = 12;

    /// Cancels these. Answers whether all went well; the first that does not is the last that is begun.
    async fn expire(&self, due: Vec<OrderId>, now: Timestamp) -> bool {
        let mut tasks = JoinSet::new();
        let (mut waiting, mut is_well) = (due.into_iter(), true);
        loop {
            while is_well
                && tasks.len() < Self::SIDE_BY_SIDE
                && let Some(order) = waiting.next()
            {
                let context = self.context.clone();
                tasks.spawn(async move { (order, expire(&context, order, now).await) });
            }
            match tasks.join_next().await {
                Some(Ok((_, Ok(())))) => {}
                Some(Ok((order, Err(error)))) => {
                    is_well = false;
                    tracing::warn!(order = order.get(), %error, "an order is still to be cancelled");
                }
                Some(Err(error)) => {
                    is_well = false;
                    tracing::error!(%error, "cancelling an order broke off");
                }
                None => return is_well,
            }
        }
    }
}

#[async_trait]
impl Chore for ExpireOrders {
    fn name(&self) -> &'static str {
        "expire orders"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        // Deadlines that cannot be asked are asked again in a second.
        let next = self.context.storage.deadlines.next().await.unwrap_or(Some(now + Duration::from_secs(1)));
        next.map(|next| next + self.context.doubted())
    }

    async fn run(&self, now: Timestamp) {
        loop {
            let expired = self.context.expiry_now(now);
            match self.context.storage.deadlines.due(expired, Self::DUE_AT_ONCE).await {
                Ok(due) if due.is_empty() => return,
                Ok(due) => {
                    // What failed is due again when its lease ends: no need to go on against a store in trouble.
                    if !self.expire(due, now).await {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "deadlines cannot be read");
                    return;
                }
            }
        }
    }
}

async fn expire(context: &Context, order: OrderId, now: Timestamp) -> Result<(), StoreError> {
    let storage = &context.storage;
    match storage.orders.step(order, Step::Cancel, now).await? {
        Stepped::Done(order) => closed(context, &order).await,
        // Paid or closed in time: its deadline was only still to be cleared.
        Stepped::Stands(order) => storage.deadlines.clear(order.id).await,
        Stepped::Unknown => {
            tracing::warn!(order = order.get(), "a deadline without an order is dropped");
            storage.deadlines.clear(order).await
        }
    }
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
        for Errand::Release { voucher, user, order } in &errands {
            // Mostly `NotHeld`: it was given back when the order was closed.
            let _ = storage.sales.release(*voucher, *user, *order).await?;
        }
        if !errands.is_empty() {
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
