//! Cancellation of unpaid orders at their deadline, in batches.
//!
//! Reasons and figures: `src/decisions/0010-overdue-orders-in-batches.md`.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use mallbox_storage::{StoreError, Timestamp, TransitionOutcome};
use tokio_util::sync::CancellationToken;

use super::cashier::Cashier;
use super::closed_orders::closed_all;
use crate::mall::base::Context;
use crate::mall::base::chores::Chore;

/// Orders per transaction: some ten milliseconds of the writer. Nobody waits longer than for a batch of
/// claims.
const BATCH: usize = 500;
/// Pause after a batch while people buy, as a multiple of the batch's duration: at most a tenth of a core.
const PAUSE_FACTOR: u32 = 9;

/// Cancels unpaid orders at their deadline. Reads due orders from the deadlines only, never from the
/// database.
pub(in crate::mall) struct CancelOverdue {
    context: Context,
    cashier: Cashier,
}

impl CancelOverdue {
    pub(in crate::mall) fn new(context: &Context, cashier: &Cashier) -> Self {
        Self { context: context.clone(), cashier: cashier.clone() }
    }

    /// Cancels a batch of due orders. Returns whether more orders may be due.
    async fn batch(&self, now: Timestamp) -> Result<bool, StoreError> {
        let storage = &self.context.storage;
        let due = storage.selling.deadlines.due(self.context.expiry_now(now), BATCH).await?;
        if due.is_empty() {
            return Ok(false);
        }
        let is_full = due.len() == BATCH;
        // Orders that wait for the gateway are due again when their lease ends.
        let due = self.cashier.close_overdue(due, now).await?;
        if due.is_empty() {
            return Ok(is_full);
        }
        let stepped = storage.selling.orders.cancel(&due, now).await?;
        let mut closed = Vec::with_capacity(due.len());
        for (order, stepped) in due.iter().zip(stepped) {
            match stepped {
                TransitionOutcome::Done(order) => closed.push(order),
                // Paid or closed in time: only the deadline had not been cleared yet.
                TransitionOutcome::Stands(_) => {}
                TransitionOutcome::Unknown => {
                    tracing::warn!(order = order.get(), "dropped the deadline of an unknown order");
                }
            }
        }
        closed_all(&self.context, &closed).await?;
        storage.selling.deadlines.clear(&due).await?;
        Ok(is_full)
    }

    /// Returns whether claims are pending: buyers have priority then.
    async fn has_pending_claims(&self) -> bool {
        self.context.storage.selling.order_log.state().await.pending > 0
    }
}

#[async_trait]
impl Chore for CancelOverdue {
    fn name(&self) -> &'static str {
        "cancel overdue orders"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        // Unreadable deadlines are read again after a second.
        let next =
            self.context.storage.selling.deadlines.next().await.unwrap_or(Some(now + Duration::from_secs(1)));
        next.map(|next| next + self.context.doubted())
    }

    async fn run(&self, now: Timestamp) {
        self.run_until(now, &CancellationToken::new()).await;
    }

    async fn run_until(&self, now: Timestamp, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let began = Instant::now();
            match self.batch(now).await {
                Ok(true) => {}
                Ok(false) => return,
                // Failed orders are due again when their lease ends: no need to continue against a failing
                // store.
                Err(error) => {
                    tracing::warn!(%error, "could not cancel overdue orders");
                    return;
                }
            }
            if self.has_pending_claims().await {
                let rest = began.elapsed() * PAUSE_FACTOR;
                let _ = tokio::time::timeout(rest, stop.cancelled()).await;
            }
        }
    }
}
