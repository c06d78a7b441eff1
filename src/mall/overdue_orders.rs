//! Unpaid orders are cancelled at their deadline, in batches.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use mallbox_storage::{Stepped, StoreError, Timestamp};
use tokio_util::sync::CancellationToken;

use super::Context;
use super::cashier::closed_all;
use super::chores::Chore;

/// Orders of one transaction: some ten milliseconds of the writer, for which nobody waits longer than for a batch of claims.
const BATCH: usize = 500;
/// While people buy, a batch is followed by a rest of so many times its own length: a tenth of a core at most.
const RESTS: u32 = 9;

/// Cancels unpaid orders at their deadline. Asks the deadlines alone, never the database, what is due.
pub(super) struct CancelOverdue {
    context: Context,
}

impl CancelOverdue {
    pub(super) fn new(context: &Context) -> Self {
        Self { context: context.clone() }
    }

    /// Cancels a batch of what is due. Returns whether there may be more.
    async fn batch(&self, now: Timestamp) -> Result<bool, StoreError> {
        let storage = &self.context.storage;
        let due = storage.deadlines.due(self.context.expiry_now(now), BATCH).await?;
        if due.is_empty() {
            return Ok(false);
        }
        let stepped = storage.orders.cancel(&due, now).await?;
        let mut closed = Vec::with_capacity(due.len());
        for (order, stepped) in due.iter().zip(stepped) {
            match stepped {
                Stepped::Done(order) => closed.push(order),
                // Paid or closed in time: its deadline was only still to be cleared.
                Stepped::Stands(_) => {}
                Stepped::Unknown => {
                    tracing::warn!(order = order.get(), "dropped the deadline of an unknown order");
                }
            }
        }
        closed_all(&self.context, &closed).await?;
        storage.deadlines.clear(&due).await?;
        Ok(due.len() == BATCH)
    }

    /// Whether claims are on their way: then buyers come first.
    async fn people_buy(&self) -> bool {
        self.context.storage.order_log.state().await.pending > 0
    }
}

#[async_trait]
impl Chore for CancelOverdue {
    fn name(&self) -> &'static str {
        "cancel overdue orders"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        // Deadlines that cannot be read are read again in a second.
        let next = self.context.storage.deadlines.next().await.unwrap_or(Some(now + Duration::from_secs(1)));
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
                // What failed is due again when its lease ends: no need to go on against a store in trouble.
                Err(error) => {
                    tracing::warn!(%error, "could not cancel overdue orders");
                    return;
                }
            }
            if self.people_buy().await {
                let rest = began.elapsed() * RESTS;
                let _ = tokio::time::timeout(rest, stop.cancelled()).await;
            }
        }
    }
}
