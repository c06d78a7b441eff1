//! Refreshes the Bloom filters of ids and warms the caches after a start.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{StoreError, Timestamp};

use super::Shops;
use crate::mall::base::chores::{Chore, Every};
use crate::mall::selling::FlashSales;

/// Due at once, but no start waits for it: until it has run, every id is looked up and the first readers
/// wait.
pub(in crate::mall) struct RefreshCaches {
    every: Every,
    shops: Arc<Shops>,
    sales: FlashSales,
    is_warm: AtomicBool,
}

impl RefreshCaches {
    /// How long a deleted id keeps passing the filters. Reading a million ids takes about a second.
    const SPAN: Duration = Duration::from_secs(600);

    pub(in crate::mall) fn new(shops: &Arc<Shops>, sales: &FlashSales) -> Self {
        Self {
            every: Every::new(Self::SPAN),
            shops: Arc::clone(shops),
            sales: sales.clone(),
            is_warm: AtomicBool::new(false),
        }
    }

    async fn learn_ids(&self) -> Result<(), StoreError> {
        self.shops.learn_ids().await?;
        self.sales.refill_id_filter().await
    }
}

#[async_trait]
impl Chore for RefreshCaches {
    fn name(&self) -> &'static str {
        "maintain caches"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        if let Err(error) = self.learn_ids().await {
            tracing::warn!(%error, "could not refresh the Bloom filters of shops and vouchers");
        }
        if !self.is_warm.swap(true, Ordering::Relaxed)
            && let Err(error) = self.shops.warm_up(now).await
        {
            tracing::warn!(%error, "could not warm the shop caches");
        }
    }
}
